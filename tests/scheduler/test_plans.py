"""If these fail, a node runner starts with a wrong plan: another run's token, no secret, the wrong size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard.contracts.compute import Resources, Target
from runyard.scheduler import plans
from runyard.scheduler.plans import Surroundings
from runyard.store.content.secrets import SecretMissing
from runyard.store.runs import runs, workspaces
from runyard.store.runs.runs import NewRun, Run
from runyard.store.store import Store

SECRET = "RUNYARD_SECRET_" + "a" * 32


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    store = Store.open(home)
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
    yield store
    store.close()


def around(home: Path, secrets: dict[str, str]) -> Surroundings:
    def secret_of(name: str) -> str:
        if name not in secrets:
            raise SecretMissing(f"The secret {name} is missing.")
        return secrets[name]

    return Surroundings(
        home, lambda: "http://here", lambda run_id: f"token of {run_id}", lambda: home / "sdk", secret_of
    )


def made(store: Store, **launch: object) -> Run:
    with store.database.write() as connection:
        new = NewRun("run-1", "local", "trial", target="gpus", launch={"command": "true", **launch}, nodes=2)
        return runs.create(connection, new)


def test_every_node_has_the_same_plan_but_for_its_number(store: Store, home: Path) -> None:
    gang = plans.gang(store, around(home, {}), made(store), Target("gpus", "slurm", "Slurm", vm_size="STANDARD_NC6"))
    first, second = gang.plans
    assert (first.node, second.node) == (0, 1)
    assert first.link == second.link
    assert (first.token, first.server_url, first.attempt) == ("token of run-1", "http://here", 1)
    assert (first.target, first.target_type) == ("gpus", "Slurm")
    assert gang.resources.gpus == 1
    assert first.launch.notes == [], "the cluster gives what the size stands for"


def test_a_size_asks_for_nothing_on_this_machine_and_the_log_mentions_it_once(store: Store, home: Path) -> None:
    gang = plans.gang(store, around(home, {}), made(store), Target("gpus", vm_size="STANDARD_NC6"))
    assert gang.resources == Resources()
    assert ["STANDARD_NC6" in " ".join(plan.launch.notes) for plan in gang.plans] == [True, False]


def test_each_attempt_has_a_link_of_its_own(store: Store, home: Path) -> None:
    run, target = made(store), Target("gpus")
    links = {plans.gang(store, around(home, {}), run, target).plans[0].link for _ in range(2)}
    assert len(links) == 2


def test_secrets_are_put_in_place_or_missed(store: Store, home: Path) -> None:
    run = made(store, environment_variables={"KEY": f"${{{SECRET}}}"})
    plan = plans.gang(store, around(home, {SECRET: "hush"}), run, Target("gpus")).plans[0]
    assert plan.launch.environment_variables == {"KEY": "hush"}
    with pytest.raises(SecretMissing):
        plans.gang(store, around(home, {}), run, Target("gpus"))
