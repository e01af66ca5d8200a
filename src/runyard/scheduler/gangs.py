"""Gangs of node runners that were started: stopping them, finding them again, and what follows when they are gone.

Everything here is done by the worker of the run's line, so that nothing of one run happens at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from runyard.contracts import states as names
from runyard.engines.base import EngineAway, EngineError, EngineEvents, Gang, Handle
from runyard.engines.folders import RESCUE, RunFolders
from runyard.scheduler import states
from runyard.scheduler.states import Fact
from runyard.scheduler.stranded import Stranded, pause_after
from runyard.scheduler.target_queues import Line
from runyard.scheduler.transitions import Ledger
from runyard.scheduler.worker import TRY_AGAIN_AFTER
from runyard.store.content import files
from runyard.store.runs import attempts, runs
from runyard.store.runs.runs import Run
from runyard.store.store import Store

log = logging.getLogger("runyard.scheduler")

RESCUES = 3
"""So many new node runners are sent to deliver what a dead one left before the run counts as failed."""

WORD_WITHIN = 60.0
"""Seconds for which the end of a run is kept back that something outside has stopped, until the cluster says why."""

PROMISE = "promise"
"""The key that marks the handle of a gang whose start was not seen to return; its value is the engine's promise."""

_NOT_UP_YET = (names.PROVISIONING, names.PREPARING, names.STARTING)


class NodeRunners:
    """`enqueue` puts a run in its queue again; `stranded` looks after what is left of those that are over."""

    def __init__(
        self,
        store: Store,
        folders: RunFolders,
        ledger: Ledger,
        events: EngineEvents,
        stranded: Stranded,
        enqueue: Callable[[Run], None],
    ) -> None:
        self._store, self._folders, self._ledger = store, folders, ledger
        self._events = events
        self._stranded = stranded
        self._enqueue = enqueue
        self._rescues: dict[str, int] = {}
        self._kept_back: dict[str, Fact] = {}

    def forget(self, run_id: str) -> None:
        self._rescues.pop(run_id, None)
        self._kept_back.pop(run_id, None)

    def watch(self, line: Line, run_id: str) -> None:
        """Find the gang of a run again that a former server has started."""
        run, handle = self._look_up(run_id)
        try:
            if handle is None:
                alive = False
            elif RESCUE in handle:
                alive = self._folders.watch(run_id, handle, self._events)
            elif PROMISE in handle:
                alive = self._found(line, run_id, handle[PROMISE])
            else:
                alive = line.engine.watch(run_id, handle, self._events)
        except EngineAway:
            raise
        except EngineError as error:  # an engine that is broken now may be mended while the gang goes on
            log.error("run %s cannot be watched: %s", run_id, error)
            line.worker.post(lambda: self.watch(line, run_id), after=TRY_AGAIN_AFTER)
            return
        if not alive:
            self.gone(line, run_id, "it ended while no server was running")
        elif run.status == names.CANCEL_REQUESTED or run.restart is not None or states.is_declared(run.error):
            self.stop(line, run_id)

    def start(self, line: Line, gang: Gang) -> None:
        """Have a gang started. Should the server die before it knows that it is, the next one looks for it first."""
        if not line.ours:  # on this machine the folders tell
            self._keep(gang.run_id, {PROMISE: line.engine.promise(gang)})
        self._keep(gang.run_id, line.engine.start(gang, self._events))

    def take_up(self, line: Line, run_id: str) -> bool:
        """Whether the gang of a run that waits was started after all: its cluster, or the server, went away before
        that could be told. Then it is watched, or what it left is delivered."""
        _, handle = self._look_up(run_id)
        if handle is None or PROMISE not in handle:
            return False
        if self._found(line, run_id, handle[PROMISE]):
            return True
        if self._folders.begun(run_id):
            self.gone(line, run_id, "it ended while no server was running")
            return True
        return False

    def stop(self, line: Line, run_id: str) -> None:
        """Ask the gang to end, if there is one."""
        _, handle = self._look_up(run_id)
        if handle is None:
            return
        if RESCUE in handle:
            self._folders.stop(handle)
        elif PROMISE in handle:
            line.engine.stop(run_id, handle[PROMISE])
            self._stranded.look(run_id)
        else:
            line.engine.stop(run_id, handle)

    def keep_back(self, line: Line, run_id: str, fact: Fact) -> Run | None:
        """Keep the end of a run that nobody here has stopped until the cluster has said whether it took the nodes away;
        None when there is no need to."""
        if line.ours or not fact.stopped or fact.timed_out:
            return None
        run, _ = self._look_up(run_id)
        stopped_here = run.status == names.CANCEL_REQUESTED or states.is_declared(run.error)
        if run.ended or run.restart is not None or stopped_here:
            return None
        self._kept_back[run_id] = fact
        line.worker.post(lambda: self._tell_at_last(run_id), after=WORD_WITHIN)
        return self._ledger.apply(run_id, Fact(states.FINALIZING, reason=f"stopped by {line.target.name}"))

    def gone(self, line: Line, run_id: str, how: str, taken: bool = False) -> None:
        """No node runner of a run is alive. If none has told how the run ended, another one delivers what is left."""
        run, handle = self._look_up(run_id)
        if taken:
            run = self._ledger.apply(run_id, Fact(states.TAKEN, reason=f"its nodes were taken away ({how})"))
        run = self._tell_end(run, how, taken)
        if run.ended:
            self._stranded.gone(run_id, how)
            return
        tries = self._rescues[run_id] = self._rescues.get(run_id, 0) + 1
        started = handle is not None and PROMISE not in handle
        if not started and run.status in _NOT_UP_YET and tries <= RESCUES and not self._folders.begun(run_id):
            self._folders.clear(run_id)
            self._enqueue(run)  # the server died before it had started anything
        elif tries > RESCUES:
            self._give_up(run_id, how)
        elif tries == 1 or self._folders.to_rescue(run_id) is None:
            self._rescue(line, run_id, how)
        else:
            line.worker.post(lambda: self._rescue(line, run_id, how), after=pause_after(tries - 1))

    def _rescue(self, line: Line, run_id: str, how: str) -> None:
        """Have what a dead node runner left delivered by another one; without anything left, the run is over."""
        run, _ = self._look_up(run_id)
        if run.ended:  # meanwhile
            self._stranded.gone(run_id, how)
            return
        try:
            rescue = self._folders.rescue(run_id, self._events)
        except EngineError as error:
            log.error("run %s could not be taken up after its node runner was gone: %s", run_id, error)
            line.worker.post(lambda: self.gone(line, run_id, how), after=TRY_AGAIN_AFTER)
            return
        if rescue is not None:
            log.warning("the node runner of %s is gone (%s); another one delivers what it left", run_id, how)
            self._keep(run_id, rescue)
            return
        if not run.between_attempts:
            run = self._ledger.fail(run_id, "NodeRunnerLost", _lost(how))
        if run.between_attempts:
            self._begin_next(run_id)

    def _give_up(self, run_id: str, how: str) -> None:
        """Nobody is kept waiting for a run any longer whose rescuers die. What it left is delivered when that works."""
        message = _lost(how)
        if self._folders.worked_in(run_id):
            message += f" What it has left in {self._folders.of(run_id)} is delivered as soon as that works."
        self._ledger.fail(run_id, "NodeRunnerLost", message, final=True)
        self._stranded.look(run_id, RESCUES)

    def _begin_next(self, run_id: str) -> None:
        """The run waits for its next attempt, now that everything of the former one is delivered and gone."""
        files.seal(self._store, run_id)
        self._folders.clear(run_id)
        with self._store.database.write() as connection:
            if not runs.get(connection, run_id).between_attempts:
                return  # it was cancelled meanwhile
            attempts.begin_next(connection, run_id)
            run = runs.get(connection, run_id)
        self.forget(run_id)
        self._enqueue(run)

    def _tell_end(self, run: Run, how: str, taken: bool) -> Run:
        """Apply the end that was kept back, if there is one."""
        fact = self._kept_back.get(run.id)
        if fact is None:
            return run
        if not taken:
            words = f"The node runners of this run were stopped from outside ({how})."
            fact = replace(
                fact, reason=words, error={**(fact.error or {}), "code": "StoppedFromOutside", "message": words}
            )
        run = self._ledger.end(run.id, fact)
        self._kept_back.pop(run.id, None)
        return run

    def _tell_at_last(self, run_id: str) -> None:
        if run_id in self._kept_back:
            self._tell_end(self._look_up(run_id)[0], "its cluster does not say why", taken=False)

    def _found(self, line: Line, run_id: str, promise: Handle) -> bool:
        handle = line.engine.find(run_id, promise, self._events)
        if handle is not None:
            self._keep(run_id, handle)
        return handle is not None

    def _keep(self, run_id: str, handle: Handle) -> None:
        with self._store.database.write() as connection:
            runs.set_handle(connection, run_id, handle)

    def _look_up(self, run_id: str) -> tuple[Run, Handle | None]:
        with self._store.database.read() as connection:
            return runs.get(connection, run_id), runs.handle(connection, run_id)


def _lost(how: str) -> str:
    return f"The node runner of this run ended before it could tell how the run went ({how})."
