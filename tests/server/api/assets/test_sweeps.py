"""The routes of sweeps, over HTTP: how children stand, and more of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.server.conftest import on_both_databases
from tests.support.waiting import wait_until

from runyard.server.api.assets import sweeps as routes
from runyard.store.assets.sweeps import StoredTrial

if TYPE_CHECKING:
    from tests.server.conftest import Client

SWEEP: dict[str, Any] = {
    "sampling": {"name": "GRID", "parameter_space": {"x": ["choice", [[1, 2, 3]]]}},
    "metric": "acc",
    "goal": "maximize",
    "runs": 2,
    "at_once": 2,
}


def submit(client: Client, command: str = "true", **asked: Any) -> Any:
    """A sweep whose children are a command of the shell."""
    sweep = {**SWEEP, **asked}
    return client.make_run(kind="sweep", type="hyperdrive", launch={"command": command}, sweep=sweep)


def ended(client: Client, run_id: str) -> Any:
    wait_until(lambda: client.ok("GET", f"/api/runs/{run_id}")["status"] in ("Completed", "Failed", "Canceled"))
    return client.ok("GET", f"/api/runs/{run_id}")


@on_both_databases
def test_a_sweep_runs_and_its_children_are_told_apart(client: Client) -> None:
    run = submit(client)
    assert run["id"].startswith("HD_")
    assert ended(client, run["id"])["status"] == "Completed"
    standing = client.ok("GET", f"/api/runs/{run['id']}/sweep")
    assert [(each["number"], each["parameters"], each["status"]) for each in standing["trials"]] == [
        (0, {"x": 1}, "Completed"),
        (1, {"x": 2}, "Completed"),
    ]
    assert (standing["best"], standing["metric"], standing["runs"]) == (None, "acc", 2)
    child = client.ok("GET", f"/api/runs/{run['id']}_1")
    assert child["launch"]["command"] == "true --x 2"
    tags = client.ok("GET", f"/api/runs/{run['id']}")["tags"]
    assert tags[f"_aml_system_{run['id']}_1"] == '{"x": 2}'
    assert tags["_aml_system_max_total_jobs"] == "2"

    client.ok("POST", f"/api/runs/{run['id']}/sweep/extend", {"runs": 5})
    assert ended(client, run["id"])["status"] == "Completed"
    assert len(client.ok("GET", f"/api/runs/{run['id']}/sweep")["trials"]) == 3  # the space has no more


def test_a_child_that_had_ended_by_itself_was_not_stopped() -> None:
    told = {
        status: routes._trial(StoredTrial(1, "HD_1_1", {}, status, "stopped at interval 2", 0.5, 2), None)["verdict"]
        for status in ("Completed", "Failed", "Canceled", "CancelRequested")
    }
    stopped = "stopped at interval 2"
    assert told == {"Completed": None, "Failed": None, "Canceled": stopped, "CancelRequested": stopped}


def test_a_run_that_is_no_sweep(client: Client) -> None:
    path = client.new_run_path()
    assert client.get(f"{path}/sweep").code == "no_sweep"
    assert client.call("POST", f"{path}/sweep/extend", {"runs": 1}).code == "no_sweep"


@pytest.mark.parametrize("runs", [0, -1, 10**9, "many"])
def test_nonsense_is_refused(client: Client, runs: object) -> None:
    run = submit(client)
    assert client.call("POST", f"/api/runs/{run['id']}/sweep/extend", {"runs": runs}).code == "bad_request"
    ended(client, run["id"])
