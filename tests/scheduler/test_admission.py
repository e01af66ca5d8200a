"""If these fail, a run that was submitted is never started, or waits for ever for a target that was removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scheduler.conftest import EnginesWithFakes, wait

from runyard.contracts import states as names
from runyard.scheduler.admission import Admission
from runyard.scheduler.stranded import Stranded
from runyard.scheduler.target_queues import TargetQueue, TargetQueues
from runyard.scheduler.transitions import Transitions
from runyard.store.runs import runs, workspaces
from runyard.store.runs.runs import SCRIPT, NewRun, Run
from runyard.store.store import Store


class Parts:
    def __init__(self, home: Path) -> None:
        self.store = Store.open(home)
        engines = EnginesWithFakes(home, {})
        self.queues = TargetQueues(self.store, engines)
        self.started: list[str | None] = []
        self.queues.subscribe(self._start_next)
        self.stranded = Stranded(self.store, engines.folders)
        self.admission = Admission(self.queues, Transitions(self.store, self.queues.is_replaceable), self.stranded)
        with self.store.database.write() as connection:
            workspaces.ensure_default(connection)

    def _start_next(self, queue: TargetQueue) -> None:
        self.started.append(queue.next())

    def run(self, id: str, target: str) -> Run:
        with self.store.database.write() as connection:
            return runs.create(connection, NewRun(id, "local", "trial", kind=SCRIPT, target=target, launch={}))


@pytest.fixture
def parts(home: Path) -> Iterator[Parts]:
    parts = Parts(home)
    yield parts
    parts.stranded.close()
    parts.queues.close()
    parts.store.close()


def test_a_run_enters_the_queue_of_its_target_and_wakes_it(parts: Parts) -> None:
    parts.admission.enqueue(parts.run("run-1", "local"))
    wait(lambda: parts.started == ["run-1"])
    assert parts.queues.of_run("run-1") is parts.queues.of("local", "local")


def test_a_run_whose_target_was_removed_fails(parts: Parts) -> None:
    parts.admission.enqueue(parts.run("run-1", "removed"))
    with parts.store.database.read() as connection:
        run = runs.get(connection, "run-1")
    assert run.status == names.FAILED
    assert (run.error or {})["code"] == "UnknownTarget"
    assert parts.queues.of_run("run-1") is None
