"""If these fail, node runners that were started are lost, started twice, or leave their run without an end.

The parts are put together here without the scheduler; the cluster is a fake, because no real one does this on command.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.engines.conftest import gang_of
from tests.scheduler.conftest import EnginesWithFakes, FakeCluster, wait

from runyard.contracts import states as names
from runyard.contracts.compute import Target
from runyard.engines.base import EngineError, EngineEvents, Handle
from runyard.engines.folders import RESCUE
from runyard.scheduler import gangs as module
from runyard.scheduler import states
from runyard.scheduler.admission import Admission
from runyard.scheduler.gangs import PROMISE, RESCUES, Gangs
from runyard.scheduler.heartbeats import Heartbeats
from runyard.scheduler.states import Fact
from runyard.scheduler.stranded import Stranded
from runyard.scheduler.target_queues import TargetQueue, TargetQueues
from runyard.scheduler.transitions import Transitions
from runyard.store.assets import compute
from runyard.store.runs import runs, workspaces
from runyard.store.runs.runs import SCRIPT, NewRun, Run
from runyard.store.store import Store

STOPPED = Fact(states.ENDED, outcome="failed", stopped=True, error={"code": "Canceled", "message": "stopped"})


class Parts:
    """All that gangs need, and the queue of one cluster with one run on it."""

    def __init__(self, home: Path) -> None:
        self.home, self.store, self.cluster = home, Store.open(home), FakeCluster()
        engines = EnginesWithFakes(home, {"hpc": self.cluster})
        self.folders = engines.folders
        self.queues = TargetQueues(self.store, engines)
        self.transitions = Transitions(self.store, self.queues.is_replaceable)
        self.heartbeats = Heartbeats(self.transitions)
        self.stranded = Stranded(self.store, self.folders)
        admission = Admission(self.queues, self.transitions, self.stranded)
        self.gangs = Gangs(
            self.store, self.folders, self.queues, self.transitions, self.heartbeats, self.stranded, admission
        )
        with self.store.database.write() as connection:
            workspaces.ensure_default(connection)
            compute.create(connection, "local", Target("hpc", "slurm", "Slurm"))

    def held(self, status: str = names.PROVISIONING) -> TargetQueue:
        """The queue of a run that has its nodes."""
        with self.store.database.write() as connection:
            launch = {"command": "true", "restarts": 1}
            run = runs.create(
                connection, NewRun("run-1", "local", "trial", status, kind=SCRIPT, target="hpc", launch=launch)
            )
        queue = self.queues.enter(run)
        assert queue is not None
        queue.hold(run, running=False, placed=False)
        return queue

    def run(self) -> Run:
        with self.store.database.read() as connection:
            return runs.get(connection, "run-1")

    def handle(self) -> object:
        with self.store.database.read() as connection:
            return runs.handle(connection, "run-1")

    def close(self) -> None:
        self.stranded.close()
        self.queues.close()
        self.store.close()


@pytest.fixture
def parts(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Parts]:
    monkeypatch.setattr(module, "RETRY_AFTER", 0.01)
    parts = Parts(home)
    yield parts
    parts.close()


def test_a_start_is_promised_before_it_is_made(parts: Parts) -> None:
    queue = parts.held()
    parts.cluster.away = "not now"
    with pytest.raises(EngineError):
        parts.gangs.start(queue, gang_of(parts.home))
    assert parts.handle() == {PROMISE: {"name": "run-1.1"}}
    parts.cluster.away = None
    assert not parts.gangs.take_up(queue, "run-1"), "the cluster does not know it"
    parts.gangs.start(queue, gang_of(parts.home))
    assert parts.handle() == {"job": 1}


def test_a_handle_on_this_machine_is_used_before_it_is_stored(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STORED_AFTER", 600.0)
    queue = parts.held()
    queue.ours = True
    parts.gangs.start(queue, gang_of(parts.home))
    assert parts.handle() is None
    parts.gangs.stop(queue, "run-1")
    assert parts.cluster.stopped == ["run-1"]
    parts.gangs.close()
    assert parts.handle() == {"job": 1}, "the next server finds it"


def test_a_handle_on_this_machine_is_stored_soon_and_not_for_a_run_that_has_ended(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STORED_AFTER", 600.0)
    queue = parts.held()
    queue.ours = True
    parts.gangs.start(queue, gang_of(parts.home))
    parts.gangs.forget("run-1")
    parts.gangs.close()
    assert parts.handle() is None
    monkeypatch.setattr(module, "STORED_AFTER", 0.0)
    parts.gangs.start(queue, gang_of(parts.home))
    wait(lambda: parts.handle() is not None, "for the handle to be stored")


def test_a_gang_whose_handle_was_not_stored_is_found_again_and_ended_if_it_was_to_end(parts: Parts) -> None:
    queue = parts.held(names.RUNNING)
    queue.ours = True
    parts.cluster.alive.add("run-1")
    parts.gangs.watch(queue, "run-1")
    assert parts.handle() == {"job": 0}
    assert parts.cluster.stopped == []
    with parts.store.database.write() as connection:
        runs.set_handle(connection, "run-1", None)
    parts.transitions.apply("run-1", Fact(states.CANCEL))
    parts.gangs.watch(queue, "run-1")
    assert parts.cluster.stopped == ["run-1"]


def test_a_gang_on_this_machine_is_asked_to_end_until_it_has(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ASKED_AGAIN_AFTER", 0.01)
    queue = parts.held(names.RUNNING)
    queue.ours = True
    parts.gangs.start(queue, gang_of(parts.home))
    parts.gangs.stop(queue, "run-1")
    assert parts.cluster.stopped == ["run-1"], "nobody wants its end: it is asked once"
    parts.transitions.apply("run-1", Fact(states.CANCEL))
    parts.gangs.stop(queue, "run-1")
    wait(lambda: len(parts.cluster.stopped) > 4, "for it to be asked again")
    parts.transitions.end("run-1", STOPPED)
    done = threading.Event()
    queue.worker.post(done.set, after=0.05)
    assert done.wait(60)
    asked = len(parts.cluster.stopped)
    done.clear()
    queue.worker.post(done.set, after=0.05)
    assert done.wait(60)
    assert len(parts.cluster.stopped) == asked


def test_a_runner_that_is_found_when_another_is_gone_is_asked_to_end(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start that was answered too late has left two runners: one that leaves at once, and one that is at work."""
    stopped: list[tuple[str, Handle]] = []
    monkeypatch.setattr(parts.folders, "rescue", lambda run_id, events: {RESCUE: {"pid": 1, "started": "2"}})
    monkeypatch.setattr(parts.folders, "stop", lambda *asked: stopped.append(asked))
    queue = parts.held(names.RUNNING)
    queue.ours = True
    parts.gangs.start(queue, gang_of(parts.home))
    parts.transitions.apply("run-1", Fact(states.CANCEL))
    parts.gangs.stop(queue, "run-1")  # reaches the one that leaves
    parts.gangs.gone("run-1", "exit code 0")
    wait(lambda: stopped, "for the other one to be asked")
    assert stopped == [("run-1", {RESCUE: {"pid": 1, "started": "2"}})]


def test_events_of_an_engine_become_states(parts: Parts) -> None:
    queue = parts.held(names.QUEUED)
    parts.gangs.start(queue, gang_of(parts.home))
    parts.gangs.waits("run-1", "3 jobs are before it")
    wait(lambda: parts.run().reason == "3 jobs are before it")
    parts.gangs.placed("run-1")
    wait(lambda: parts.run().status == names.PREPARING)
    assert parts.heartbeats.check() == [], "it is expected to report from now on, and has time to"
    parts.gangs.waits("unknown", "nobody")
    parts.gangs.placed("unknown")


def test_a_run_whose_nodes_were_taken_away_waits_again(parts: Parts) -> None:
    queue = parts.held(names.RUNNING)
    parts.gangs.start(queue, gang_of(parts.home))
    parts.gangs.gone("run-1", "PREEMPTED", taken=True)
    wait(lambda: parts.run().attempt == 2)
    wait(lambda: queue.why("run-1") is not None, "for the run to be in the queue")
    assert parts.run().status == names.QUEUED


def test_a_run_that_left_nothing_has_failed(parts: Parts) -> None:
    queue = parts.held(names.RUNNING)
    parts.gangs.start(queue, gang_of(parts.home))
    parts.gangs.gone("run-1", "exit code 1")
    wait(lambda: parts.run().status == names.FAILED)
    assert (parts.run().error or {})["code"] == "NodeRunnerLost"


def test_a_run_whose_rescuers_die_is_given_up_at_last(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "pause_after", lambda tries: 0.0)
    sent: list[str] = []

    def rescue(run_id: str, events: EngineEvents) -> Handle:
        sent.append(run_id)
        return {RESCUE: {"pid": 0}}

    def rescuers(times: int) -> bool:
        return len(sent) == times

    monkeypatch.setattr(parts.folders, "rescue", rescue)
    parts.held(names.RUNNING)
    for times in range(1, RESCUES + 1):
        parts.gangs.gone("run-1", "killed by SIGKILL")
        wait(partial(rescuers, times), f"for rescuer {times}")
    parts.gangs.gone("run-1", "killed by SIGKILL")
    wait(lambda: parts.run().status == names.FAILED)
    assert len(sent) == RESCUES


def test_the_end_of_a_run_that_was_stopped_from_outside_waits_for_a_reason(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = parts.held(names.RUNNING)
    assert parts.gangs.hold_end(queue, "run-1", Fact(states.ENDED, outcome="completed")) is None
    monkeypatch.setattr(module, "EXPLAINED_WITHIN", 0.01)
    held = parts.gangs.hold_end(queue, "run-1", STOPPED)
    assert held is not None
    assert held.status == names.FINALIZING
    wait(lambda: parts.run().status == names.FAILED, "for the cluster's time to be over")
    assert (parts.run().error or {})["code"] == "StoppedFromOutside"


def test_an_end_during_the_end_of_the_server_is_left_to_the_next_one(parts: Parts) -> None:
    queue = parts.held(names.RUNNING)
    parts.gangs.start(queue, gang_of(parts.home))
    parts.gangs.close()
    parts.gangs.gone("run-1", "exit code 0")
    queue.worker.close()
    assert parts.run().status == names.RUNNING


def test_a_gang_is_stopped_by_what_is_known_of_it(parts: Parts) -> None:
    queue = parts.held(names.RUNNING)
    parts.gangs.stop(queue, "run-1")
    assert parts.cluster.stopped == [], "nothing was started"
    parts.gangs.start(queue, gang_of(parts.home))
    parts.gangs.stop(queue, "run-1")
    assert parts.cluster.stopped == ["run-1"]
    parts.cluster.alive.clear()
    parts.gangs.watch(queue, "run-1")
    wait(lambda: parts.run().status == names.FAILED, "for its end to be noticed by the next server")
