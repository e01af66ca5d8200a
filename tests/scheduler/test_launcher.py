"""If these fail, a run whose turn has come is not started, or one that cannot be started blocks those behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scheduler.conftest import EnginesWithFakes, FakeCluster
from tests.support.waiting import wait_until

from runyard.contracts import states as names
from runyard.contracts.compute import Target
from runyard.scheduler import launcher as module
from runyard.scheduler import states
from runyard.scheduler.admission import Admission
from runyard.scheduler.gangs import Gangs
from runyard.scheduler.heartbeats import Heartbeats
from runyard.scheduler.launcher import Launcher
from runyard.scheduler.plans import Surroundings
from runyard.scheduler.states import Fact
from runyard.scheduler.stranded import Stranded
from runyard.scheduler.target_queues import TargetQueue, TargetQueues
from runyard.scheduler.transitions import Transitions
from runyard.store.assets import compute
from runyard.store.content.secrets import SecretMissing
from runyard.store.runs import runs, workspaces
from runyard.store.runs.runs import SCRIPT, NewRun, Run, StateChange
from runyard.store.store import Store

SECRET = "RUNYARD_SECRET_" + "b" * 32


class Parts:
    def __init__(self, home: Path) -> None:
        self.store, self.cluster = Store.open(home), FakeCluster()
        engines = EnginesWithFakes(home, {"hpc": self.cluster})
        self.queues = queues = TargetQueues(self.store, engines)
        self.transitions = transitions = Transitions(self.store, queues.is_replaceable)
        transitions.subscribe(self._changed)
        heartbeats, self.stranded = Heartbeats(transitions), Stranded(self.store, engines.folders)
        admission = Admission(queues, transitions, self.stranded)
        gangs = Gangs(self.store, engines.folders, queues, transitions, heartbeats, self.stranded, admission)
        self.launcher = Launcher(
            self.store, self._surroundings(home), queues, transitions, heartbeats, self.stranded, gangs
        )
        with self.store.database.write() as connection:
            workspaces.ensure_default(connection)
            compute.create(connection, "local", Target("hpc", "slurm", "Slurm"))

    def _changed(self, run: Run, change: StateChange) -> None:
        if run.ended:
            self.queues.leave(run.id)

    def _surroundings(self, home: Path) -> Surroundings:
        def missing(name: str) -> str:
            raise SecretMissing(f"The secret {name} is missing.")

        return Surroundings(home, lambda: "http://127.0.0.1:9", lambda run_id: "token", lambda: home / "sdk", missing)

    def waiting(self, id: str, **launch: object) -> TargetQueue:
        with self.store.database.write() as connection:
            new = NewRun(id, "local", "trial", kind=SCRIPT, target="hpc", launch={"command": "true", **launch})
            run = runs.create(connection, new)
        queue = self.queues.enter(run)
        assert queue is not None
        queue.wait(run)
        return queue

    def run(self, id: str) -> Run:
        with self.store.database.read() as connection:
            return runs.get(connection, id)


@pytest.fixture
def parts(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Parts]:
    monkeypatch.setattr(module, "RETRY_AFTER", 3600.0)
    parts = Parts(home)
    yield parts
    parts.stranded.close()
    parts.queues.close()
    parts.store.close()


def test_the_run_whose_turn_it_is_goes_to_the_cluster(parts: Parts) -> None:
    queue = parts.waiting("run-1")
    parts.launcher.start_next(queue)
    assert parts.cluster.attempts_of("run-1") == [1]
    assert (parts.run("run-1").status, parts.run("run-1").reason) == (names.PROVISIONING, "handed over to hpc")


def test_a_cluster_that_is_away_is_not_asked_again_before_its_time(parts: Parts) -> None:
    queue = parts.waiting("run-1")
    parts.waiting("run-2")
    parts.cluster.away = "slurmctld does not answer."
    parts.launcher.start_next(queue)
    parts.cluster.away = None
    parts.launcher.start_next(queue)
    assert parts.cluster.gangs == []
    waits = "waits for hpc to answer: slurmctld does not answer."
    wait_until(lambda: [parts.run(id).reason for id in ("run-1", "run-2")] == [waits, waits], "the reasons")
    queue.retry_at = 0.0
    for _ in range(2):
        parts.launcher.start_next(queue)
    assert [parts.run(id).status for id in ("run-1", "run-2")] == [names.PROVISIONING] * 2
    assert queue.away is None


def test_a_run_that_cannot_be_started_fails_and_the_next_one_has_its_turn(parts: Parts) -> None:
    queue = parts.waiting("run-1", environment_variables={"KEY": f"${{{SECRET}}}"})
    parts.waiting("run-2")
    for _ in range(2):
        parts.launcher.start_next(queue)
    failed = parts.run("run-1")
    assert (failed.status, (failed.error or {})["code"]) == (names.FAILED, "SecretMissing")
    assert parts.run("run-2").status == names.PROVISIONING


def test_a_run_that_was_cancelled_while_it_waited_is_not_started(parts: Parts) -> None:
    queue = parts.waiting("run-1")
    elsewhere = Transitions(parts.store, lambda run: False)  # nobody has taken it out of the queue yet
    assert elsewhere.apply("run-1", Fact(states.CANCEL)).status == names.CANCELED
    parts.launcher.start_next(queue)
    assert parts.cluster.gangs == []
    assert queue.runs() == []
