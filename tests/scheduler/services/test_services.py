"""What drives services, with a real store and its own thread; runs are handed to lists, so nothing is started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.waiting import wait_until

from runyard.contracts.services import states
from runyard.contracts.services.settings import Settings
from runyard.scheduler.services.services import Services
from runyard.scheduler.states import Fact
from runyard.scheduler.transitions import Transitions
from runyard.store.assets import services
from runyard.store.assets.services import NewRevision, NewService, Service
from runyard.store.runs import workspaces
from runyard.store.store import Store

LAUNCH = {"environment": {}, "interpreter": "python", "shell": {}, "container": {}, "notes": [], "entry_script": "s.py"}
FAILED = Fact("ended", outcome="failed", error={"code": "X", "message": "it broke"})


class Yard:
    """A store, and the services over it; `again` is what the next server does."""

    def __init__(self, home: Path) -> None:
        self.home, self.store = home, Store.open(home)
        self.submitted: list[str] = []
        self.stopped: list[str] = []
        self.forgotten: list[str] = []
        with self.store.database.write() as connection:
            workspaces.ensure_default(connection)
        self.again()

    def again(self) -> None:
        self.transitions = Transitions(self.store, lambda run: False)
        self.services = Services(
            self.store,
            self.home,
            None,
            "",
            self.transitions,
            lambda run: self.submitted.append(run.id),
            lambda run_id, why: self.stopped.append(run_id),
            self.forgotten.append,
            lambda run_id: None,
        )

    def deploy(self, replicas: int = 1) -> Service:
        with self.store.database.write() as connection:
            new = NewService("local", "mine", "aci", Settings(replicas=replicas), 4000, {}, {}, {}, None, None)
            row = services.create(connection, new)
            services.add_version(connection, row, "", replicas, 100.0, True, False)
            services.add_revision(connection, row, NewRevision("", [], LAUNCH, Settings(), None, "deployed"))
        self.services.changed(row.id)
        return row

    def found(self) -> Service | None:
        with self.store.database.read() as connection:
            return services.look_up(connection, "local", "mine")

    def wait_for(self, state: str) -> Service:
        wait_until(lambda: (row := self.found()) is not None and row.state == state, state)
        row = self.found()
        assert row is not None
        return row

    def ready(self, count: int) -> list[str]:
        """Wait for so many runs, and report that their replicas answer."""
        wait_until(lambda: len(self.submitted) >= count, f"{count} replicas")
        for run_id in self.submitted[-count:]:
            self.transitions.apply(run_id, Fact("started"))
            self.services.reported(run_id, {"state": states.READY, "pid": 1})
        return self.submitted[-count:]


@pytest.fixture
def yard(home: Path) -> Iterator[Yard]:
    made = Yard(home)
    yield made
    made.services.close()
    made.store.close()


def test_a_service_comes_up_and_the_next_server_goes_on_with_its_replicas(yard: Yard) -> None:
    yard.deploy(replicas=2)
    yard.ready(2)
    row = yard.wait_for(states.HEALTHY)
    assert (row.versions[0].current, row.operation["state"]) == (1, states.SUCCEEDED)
    yard.services.close()
    yard.again()
    yard.services.start()
    lost = yard.submitted[0]
    yard.transitions.apply(lost, FAILED)
    wait_until(lambda: len(yard.submitted) == 3, "one in the place of the lost one")
    assert yard.services.any_live()
    assert yard.stopped == []


def test_one_that_never_answers_has_failed_with_its_cause(yard: Yard) -> None:
    yard.deploy()
    wait_until(lambda: yard.submitted, "a replica")
    yard.transitions.apply(yard.submitted[0], FAILED)
    row = yard.wait_for(states.FAILED)
    assert (row.error or {})["message"] == "it broke"
    assert (row.operation["state"], len(yard.submitted)) == (states.FAILED, 1)
    assert not yard.services.any_live()


def test_a_removed_service_leaves_no_run_and_no_folder(yard: Yard) -> None:
    row = yard.deploy()
    (run_id,) = yard.ready(1)
    row = yard.wait_for(states.HEALTHY)
    folder = yard.home / "services" / row.id
    wait_until(folder.is_dir, "the folder of the service")
    with yard.store.database.write() as connection:
        services.change(connection, row, state=states.DELETING, operation=services.begun("delete"))
    yard.services.changed(row.id)
    wait_until(lambda: yard.stopped == [run_id], "a stop")
    assert yard.found() is not None, "it is there until nothing of it runs"
    yard.transitions.apply(run_id, Fact("ended", outcome="failed", stopped=True))
    wait_until(lambda: yard.found() is None, "its end")
    assert (yard.forgotten, folder.exists()) == ([run_id], False)


def test_all_are_stopped_and_none_is_made_in_their_place(yard: Yard) -> None:
    yard.deploy()
    (run_id,) = yard.ready(1)
    yard.wait_for(states.HEALTHY)
    assert yard.services.stop_all() == 1
    wait_until(lambda: run_id in yard.stopped, "a stop")
    yard.transitions.apply(run_id, Fact("ended", outcome="failed", stopped=True))
    wait_until(lambda: not yard.services.any_live(), "the end of all")
    assert yard.submitted == [run_id]
