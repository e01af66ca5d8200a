"""The compute targets that runs wait for or hold: the queue of each, its nodes where they are ours, its worker.

Whoever starts runs subscribes to the queues; nothing here knows how a run is started.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from runyard.contracts.compute import LOCAL, LOCAL_ENGINE, NODE_STATES, Node, Status, Target
from runyard.engines import discovery
from runyard.engines.base import Engine, EngineAway, EngineError
from runyard.engines.registry import Engines
from runyard.scheduler.pool import Pool, moment
from runyard.scheduler.queue import Queue, Waiting
from runyard.scheduler.worker import Worker
from runyard.store.assets import compute
from runyard.store.runs import family
from runyard.store.runs.records import SERVICE
from runyard.store.runs.runs import Run
from runyard.store.store import Store

MOST_SERVICES = 1000
"""Replicas of all services together on this machine."""

NOTHING = dict.fromkeys(NODE_STATES, 0)


_WHEN_LOADED = time.time() - time.monotonic()


def steady() -> float:
    """Seconds since 1970 by a clock that is not put back or forward while the server runs: idle times are measured."""
    return _WHEN_LOADED + time.monotonic()


StartNext = Callable[["TargetQueue"], None]
"""Starts the run of a queue whose turn it is, if there is one. Called by the worker of the queue."""


class TargetQueue:
    """The runs that wait for one target, and those that hold it. Safe to use from many threads.

    On this machine the queue gives out the nodes of a pool. A cluster has nodes and a queue of its own: Slurm gets
    every run at once, and Ray, whose groups know no order, one waiting run at a time.
    """

    def __init__(self, target: Target, engines: Engines, start_next: StartNext) -> None:
        self._lock = threading.Lock()
        self._engines = engines
        self._start_next = start_next
        self.target = target
        self.worker = Worker(f"target {target.name}")
        self.away: str | None = None  # why the cluster could not take a run at the last try
        self.retry_at = 0.0  # by the monotonic clock
        self._since = steady()
        self.ours = target.engine == LOCAL_ENGINE
        self._queue = Queue(
            "this machine" if target.name == LOCAL else target.name,
            self._total(),
            children_pass=target.name == LOCAL,
            unplaced=_most_waiting(target),
        )
        self._pool = Pool(target.name, *self._scale(), steady) if self.ours else None

    @property
    def engine(self) -> Engine:
        """Raises EngineError where it is missing or broken."""
        return self._engines.of(self.target)

    def wake(self, after: float = 0.0) -> None:
        """Start the run whose turn it is, if there is one, as a job of the worker."""
        self.worker.post(lambda: self._start_next(self), key="start", after=after)

    def change(self, target: Target) -> None:
        """The target was changed. What a run holds, it holds until it ends."""
        with self._lock:
            self.target = target
            self._queue.total = self._total()
            if self._pool is not None:
                self._pool.resize(*self._scale())

    def wait(self, run: Run) -> None:
        with self._lock:
            self._leave(run.id)
            self._queue.wait(_entry(run))

    def hold(self, run: Run, running: bool, placed: bool) -> None:
        """A run that was under way when the server started."""
        with self._lock:
            self._hold(_entry(run), running, placed)

    def next(self) -> str | None:
        """Give the run that may start now its nodes; None when none may."""
        with self._lock:
            entry = self._queue.next()
            if entry is None:
                return None
            self._hold(entry, running=False, placed=self.ours)
            return entry.run_id

    def give_back(self, run_id: str) -> None:
        """It could not be started after all: it waits again, where it was."""
        with self._lock:
            if self._pool is not None:
                self._pool.give_back(run_id)
            self._queue.give_back(run_id)

    def leave(self, run_id: str) -> None:
        with self._lock:
            self._leave(run_id)

    def placed(self, run_id: str) -> None:
        with self._lock:
            self._queue.placed(run_id)

    def started(self, run_id: str) -> None:
        with self._lock:
            if self._pool is not None:
                self._pool.started(run_id)

    @property
    def has_newly_waiting(self) -> bool:
        """Whether runs may have begun to wait since the last call of `newly_waiting`."""
        with self._lock:
            return self._queue.has_new

    def newly_waiting(self) -> list[tuple[str, str]]:
        """The runs that have begun to wait since the last call, and what for."""
        with self._lock:
            return [(run_id, self.away or self._queue.why(run_id) or "") for run_id in self._queue.newly_waiting()]

    def why(self, run_id: str) -> str | None:
        """What a run waits for at this moment; None when it does not wait."""
        with self._lock:
            why = self._queue.why(run_id)
            return why and (self.away or why)

    def runs(self) -> list[str]:
        """Those that hold nodes, then those that wait."""
        with self._lock:
            return self._queue.runs()

    def __contains__(self, run_id: str) -> bool:
        with self._lock:
            return run_id in self._queue

    def nodes(self) -> list[Node]:
        if self._pool is None:
            return self.engine.offer().nodes
        with self._lock:
            return self._pool.nodes()

    def status(self) -> Status:
        """The state of the target. A cluster scales itself, so what it has is what it is meant to have."""
        if self._pool is not None:
            with self._lock:
                return self._pool.status()
        changed = moment(self._since)
        try:
            states = [node.state for node in self.engine.offer().nodes]
        except EngineError as error:
            code = "EngineAway" if isinstance(error, EngineAway) else "EngineError"
            return Status(counts=NOTHING, errors=[{"code": code, "message": str(error)}], changed_at=changed)
        counts = {state: states.count(state) for state in NODE_STATES}
        return Status(current_nodes=len(states), target_nodes=len(states), counts=counts, changed_at=changed)

    def most_nodes(self) -> int | None:
        """How many nodes a run can ever have here; None when only the cluster could know, and does not answer."""
        if self.ours or self.target.max_nodes is not None:
            return self._total()
        try:
            return self.engine.offer().most_nodes
        except EngineError:
            return None

    def _hold(self, entry: Waiting, running: bool, placed: bool) -> None:
        self._queue.hold(entry, placed)
        if self._pool is not None:
            self._pool.take(entry.run_id, entry.nodes, running)

    def _leave(self, run_id: str) -> None:
        self._queue.leave(run_id)
        if self._pool is not None:
            self._pool.give_back(run_id)

    def _total(self) -> int | None:
        if self.target.max_nodes is not None:
            return self.target.max_nodes
        return self._engines.local.places if self.ours else None

    def _scale(self) -> tuple[int, int, float]:
        return self.target.min_nodes, self._total() or 0, self.target.idle_seconds


class TargetQueues:
    """Every queue of the server, made when it is first needed. `local` is one for all workspaces."""

    def __init__(self, store: Store, engines: Engines) -> None:
        self._store, self._engines = store, engines
        self._subscribers: list[StartNext] = []
        self._lock = threading.Lock()
        self._queues: dict[tuple[str, str], TargetQueue] = {}
        self._of_run: dict[str, TargetQueue] = {}

    def subscribe(self, start_next: StartNext) -> None:
        """Have the runs of every queue started by this function."""
        self._subscribers.append(start_next)

    def of(self, workspace: str, name: str) -> TargetQueue | None:
        """The queue of a target; None when there is no such target."""
        key = ("", LOCAL) if name == LOCAL else (workspace, name)
        found = self._queues.get(key)
        if found is not None:
            return found
        with self._store.database.read() as connection:
            target = compute.look_up(connection, workspace, name)
        if target is None:
            return None
        with self._lock:
            return self._queues.setdefault(key, TargetQueue(target, self._engines, self._start_next))

    def of_run(self, run_id: str) -> TargetQueue | None:
        """The queue of a run that waits or is under way."""
        return self._of_run.get(run_id)

    def enter(self, run: Run) -> TargetQueue | None:
        """The queue that a run belongs to from now on; None when its target is not there (any more)."""
        queue = self._of_services() if run.kind == SERVICE else self.of(run.workspace, run.target)
        if queue is not None:
            self._of_run[run.id] = queue
        return queue

    def _of_services(self) -> TargetQueue:
        """The queue of the runs that are replicas of services: on this machine, and with a place for each, so that
        they take none from others and wait for nobody."""
        with self._lock:
            target = Target(LOCAL, type="local", max_nodes=MOST_SERVICES)
            return self._queues.setdefault(("", "services"), TargetQueue(target, self._engines, self._start_next))

    def leave(self, run_id: str) -> TargetQueue | None:
        """A run has ended; returns the queue that it has left."""
        queue = self._of_run.pop(run_id, None)
        if queue is not None:
            queue.leave(run_id)
        return queue

    def changed(self, workspace: str, name: str) -> TargetQueue | None:
        """A target was made, changed or removed; returns its queue unless it was removed."""
        with self._store.database.read() as connection:
            target = compute.look_up(connection, workspace, name)
        with self._lock:
            queue = self._queues.get((workspace, name))
            if queue is not None and target is not None and target.engine == queue.target.engine:
                queue.change(target)
            elif queue is not None:  # removed, or made anew for another engine
                del self._queues[workspace, name]
                queue.worker.close(wait=False)
        return None if target is None else self.of(workspace, name)

    def is_replaceable(self, run: Run) -> bool:
        """Whether the nodes of a run that waits or is under way may be taken away at any time."""
        queue = self.of_run(run.id)
        return queue is not None and queue.target.low_priority

    def _start_next(self, queue: TargetQueue) -> None:
        for start_next in self._subscribers:
            start_next(queue)

    def close(self) -> None:
        for queue in list(self._queues.values()):
            queue.worker.close()


def _most_waiting(target: Target) -> int | None:
    """How many runs may wait inside the cluster. Of an engine that cannot be loaded no run gets that far."""
    try:
        return discovery.describe(target.engine).most_waiting
    except EngineError:
        return None


def _entry(run: Run) -> Waiting:
    return Waiting(run.created_at, run.id, run.nodes, family.origin(run))
