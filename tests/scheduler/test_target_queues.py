"""If these fail, a run gets nodes that another one has, or waits for nodes that are free."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scheduler.conftest import EnginesWithFakes, FakeCluster

from runyard.contracts.compute import IDLE, PREPARING, RUNNING, Target
from runyard.engines.base import EngineAway
from runyard.scheduler.target_queues import TargetQueue, TargetQueues
from runyard.store.assets import compute
from runyard.store.runs import runs, workspaces
from runyard.store.runs.runs import NewRun, Run
from runyard.store.store import Store

DEADLINE = 60.0


class Setting:
    def __init__(self, home: Path) -> None:
        self.store = Store.open(home)
        self.cluster = FakeCluster()
        self.queues = TargetQueues(self.store, EnginesWithFakes(home, {"hpc": self.cluster, "ray": self.cluster}))
        self.woken: list[str] = []
        self.wakeup = threading.Event()
        self.queues.subscribe(self._note)
        with self.store.database.write() as connection:
            workspaces.ensure_default(connection)
            for target in (
                Target("pool", max_nodes=3),
                Target("hpc", "slurm", "Slurm"),
                Target("ray", "ray", "Ray", vm_priority="lowpriority"),
            ):
                compute.create(connection, "local", target)

    def _note(self, queue: TargetQueue) -> None:
        self.woken.append(queue.target.name)
        self.wakeup.set()

    def run(self, id: str, target: str, nodes: int = 1) -> Run:
        with self.store.database.write() as connection:
            return runs.create(connection, NewRun(id, "local", "trial", target=target, nodes=nodes))

    def waiting(self, id: str, target: str, nodes: int = 1) -> TargetQueue:
        run = self.run(id, target, nodes)
        queue = self.queues.enter(run)
        assert queue is not None
        queue.wait(run)
        return queue


@pytest.fixture
def setting(home: Path) -> Iterator[Setting]:
    setting = Setting(home)
    yield setting
    setting.queues.close()
    setting.store.close()


def test_nodes_of_this_machine_go_from_run_to_run(setting: Setting) -> None:
    queue = setting.waiting("first", "pool", 2)
    setting.waiting("second", "pool", 2)
    assert queue.next() == "first"
    assert queue.next() is None
    assert queue.newly_waiting() == [("second", "waits for 2 of 3 nodes of pool; run first holds 2")]
    assert queue.newly_waiting() == []
    assert [node.state for node in queue.nodes()] == [PREPARING, PREPARING]
    queue.started("first")
    assert [node.state for node in queue.nodes()] == [RUNNING, RUNNING]
    assert queue.runs() == ["first", "second"]
    assert setting.queues.leave("first") is queue
    assert queue.next() == "second"
    assert "first" not in queue
    assert setting.queues.of_run("first") is None


def test_a_run_that_could_not_be_started_waits_where_it_was(setting: Setting) -> None:
    queue = setting.waiting("first", "pool", 3)
    setting.waiting("second", "pool", 3)
    assert queue.next() == "first"
    queue.away = "waits for pool to answer"
    queue.give_back("first")
    assert queue.why("first") == "waits for pool to answer"
    assert [node.state for node in queue.nodes()] == [IDLE] * 3
    assert queue.next() == "first"


def test_a_cluster_gets_every_run_or_one_at_a_time(setting: Setting) -> None:
    slurm = setting.waiting("a", "hpc", 50)
    setting.waiting("b", "hpc", 50)
    assert [slurm.next(), slurm.next(), slurm.next()] == ["a", "b", None]
    ray = setting.waiting("c", "ray", 50)
    setting.waiting("d", "ray")
    assert [ray.next(), ray.next()] == ["c", None]
    ray.placed("c")
    assert ray.next() == "d"


def test_a_cluster_that_is_away_is_shown_as_such(setting: Setting) -> None:
    queue = setting.queues.of("local", "hpc")
    assert queue is not None
    assert (queue.status().current_nodes, queue.most_nodes()) == (2, 8)
    setting.cluster.away = "slurmctld does not answer."
    assert queue.status().errors == [{"code": "EngineAway", "message": "slurmctld does not answer."}]
    assert queue.most_nodes() is None
    with pytest.raises(EngineAway):
        queue.nodes()


def test_a_target_that_was_changed_keeps_its_queue_unless_its_engine_is_another(setting: Setting) -> None:
    queue = setting.waiting("big", "pool", 5)
    assert queue.next() is None
    for target, same in ((Target("pool", max_nodes=5), True), (Target("pool", "slurm", "Slurm"), False)):
        with setting.store.database.write() as connection:
            compute.replace(connection, "local", target)
        assert (setting.queues.changed("local", "pool") is queue) == same
        if same:
            assert queue.next() == "big"
    with setting.store.database.write() as connection:
        compute.remove(connection, "local", "pool")
    assert setting.queues.changed("local", "pool") is None
    assert setting.queues.enter(setting.run("late", "pool")) is None


def test_whoever_starts_runs_is_called_by_the_worker_of_the_queue(setting: Setting) -> None:
    queue = setting.waiting("a", "hpc")
    queue.wake()
    assert setting.wakeup.wait(DEADLINE)
    assert setting.woken == ["hpc"]


def test_a_run_is_replaceable_while_it_is_on_a_target_of_low_priority(setting: Setting) -> None:
    setting.waiting("a", "ray")
    setting.waiting("b", "hpc")
    with setting.store.database.read() as connection:
        replaceable, other = runs.get(connection, "a"), runs.get(connection, "b")
    assert setting.queues.is_replaceable(replaceable)
    assert not setting.queues.is_replaceable(other)
    setting.queues.leave("a")
    assert not setting.queues.is_replaceable(replaceable), "it has ended"


def test_a_target_whose_engine_is_missing_has_a_queue_all_the_same(setting: Setting) -> None:
    with setting.store.database.write() as connection:
        compute.create(connection, "local", Target("odd", "pbs", "Pbs"))
    queue = setting.waiting("a", "odd")
    assert queue.next() == "a", "its start says what is wrong"
    (error,) = queue.status().errors
    assert error["code"] == "EngineError"
