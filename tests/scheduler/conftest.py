"""A scheduler over a store of its own, and a cluster that does on command what no real one does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runyard.contracts.compute import LOCAL_ENGINE, Node, Target
from runyard.contracts.plan import Plan
from runyard.engines.base import Engine, EngineAway, EngineError, EngineEvents, Gang, Handle, Offer
from runyard.engines.registry import Engines
from runyard.scheduler import gangs, launcher, worker
from runyard.scheduler.scheduler import Scheduler, Surroundings
from runyard.store.assets import compute
from runyard.store.runs import runs, workspaces
from runyard.store.runs.runs import SCRIPT, NewRun, Run
from runyard.store.store import Store

DEADLINE = 60.0


def wait(condition: Callable[[], Any], what: str = "") -> Any:
    deadline = time.monotonic() + DEADLINE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain {what}"
        time.sleep(0.01)
    return found


class FakeCluster(Engine):
    """Starts nothing: the test says when a gang is placed, lost or taken away, and when the cluster does not answer."""

    def __init__(self) -> None:
        self.events: EngineEvents | None = None
        self.gangs: list[list[Plan]] = []
        self.stopped: list[str] = []
        self.alive: set[str] = set()
        self.away: str | None = None
        self.mute = False  # it takes a gang, and dies before it can say so
        self.away_after: str | None = None  # with `mute`: it stays away after that, for this reason
        self.promised: list[Handle] = []
        self.hangs: threading.Event | None = None

    def check(self, target: Target) -> None:
        self._answer()

    def offer(self) -> Offer:
        self._answer()
        return Offer([Node("n1", "idle"), Node("n2", "running")], most_nodes=8)

    def start(self, gang: Gang, events: EngineEvents) -> Handle:
        self._answer()
        self.events = events
        self.gangs.append(gang.plans)
        self.alive.add(gang.run_id)
        if self.mute:
            self.away = self.away_after or self.away
            raise EngineAway("it went away in this moment.")
        return {"job": len(self.gangs)}

    def promise(self, gang: Gang) -> Handle:
        return {"name": f"{gang.run_id}.{gang.plans[0].attempt}"}

    def find(self, run_id: str, promise: Handle, events: EngineEvents) -> Handle | None:
        self._answer()
        self.events = events
        self.promised.append(promise)
        return {"job": len(self.gangs)} if run_id in self.alive else None

    def watch(self, run_id: str, handle: Handle, events: EngineEvents) -> bool:
        self._answer()
        self.events = events
        return run_id in self.alive

    def stop(self, run_id: str, handle: Handle) -> None:
        self._answer()
        self.stopped.append(run_id)

    def gone(self, run_id: str, how: str = "exit code 0", taken: bool = False) -> None:
        assert self.events is not None
        self.alive.discard(run_id)
        self.events.gone(run_id, how, taken)

    def attempts_of(self, run_id: str) -> list[int]:
        return [plans[0].attempt for plans in self.gangs if plans[0].run_id == run_id]

    def _answer(self) -> None:
        if self.hangs is not None:
            self.hangs.wait(DEADLINE)
        if self.away is not None:
            raise EngineAway(self.away)


class EnginesWithFakes(Engines):
    """The engine of this machine is the real one; targets of other engines have a fake cluster, or none."""

    def __init__(self, home: Path, clusters: dict[str, FakeCluster]) -> None:
        super().__init__(home, places=2)
        self.fakes = clusters

    def of(self, target: Target) -> Engine:
        if target.engine == LOCAL_ENGINE:
            return self.local
        if target.name not in self.fakes:
            raise EngineError(f"The engine of {target.name} is not installed.")
        return self.fakes[target.name]


class Yard:
    """A store with targets and runs, and the scheduler that leads them."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = Store.open(home)
        self.clusters = {"hpc": FakeCluster(), "ray": FakeCluster()}
        self.targets = [
            Target("hpc", "slurm", "Slurm"),
            Target("ray", "ray", "Ray"),
            Target("broken", "slurm", "Slurm"),
        ]
        with self.store.database.write() as connection:
            workspaces.ensure_default(connection)
            for target in self.targets:
                compute.create(connection, "local", target)
        self.scheduler = self._new()
        self._runs = 0

    def _new(self) -> Scheduler:
        around = Surroundings(
            self.home, lambda: "http://127.0.0.1:9", lambda run_id: "token", lambda: self.home / "sdk", str
        )
        engines = EnginesWithFakes(self.home, self.clusters)
        return Scheduler(self.store, engines, around, lambda run_id, change: None)

    def start(self) -> None:
        self.scheduler.start()

    def restart(self, before: Callable[[], None] = lambda: None) -> None:
        """The server ends, and another one starts."""
        self.scheduler.close()
        before()
        self.scheduler = self._new()
        self.scheduler.start()

    def submit(self, target: str, nodes: int = 1, restarts: int = 3) -> str:
        self._runs += 1
        launch = {"command": "true", "restarts": restarts, "distribution": {"nodes": nodes}}
        new = NewRun(f"run-{self._runs}", "local", "trial", kind=SCRIPT, target=target, launch=launch, nodes=nodes)
        with self.store.database.write() as connection:
            made = runs.create(connection, new)
        self.scheduler.submitted(made)
        return new.id

    def run(self, run_id: str) -> Run:
        with self.store.database.read() as connection:
            return self.scheduler.seen(runs.get(connection, run_id))

    def reach(self, run_id: str, *statuses: str) -> Run:
        wait(lambda: self.run(run_id).status in statuses, f"for {run_id} to be in {statuses}: {self.run(run_id)}")
        return self.run(run_id)

    def close(self) -> None:
        self.scheduler.close()
        self.store.close()


@pytest.fixture
def yard(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    for module in (launcher, worker, gangs):
        monkeypatch.setattr(module, "RETRY_AFTER", 0.05)
    yard = Yard(home)
    try:
        yield yard
    finally:
        yard.close()
