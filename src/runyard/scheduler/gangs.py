"""Gangs of node runners that were started: stopping them, finding them again, and what follows when they have ended.

Everything here is done by the worker of the run's queue, one job after the other, so that no two things happen to a run
at once. Engines report to `Gangs` from any thread; that only posts a job.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from runyard.contracts import states as names
from runyard.engines.base import EngineAway, EngineError, Gang, Handle
from runyard.engines.folders import RESCUE, RunFolders
from runyard.scheduler import states
from runyard.scheduler.admission import Admission
from runyard.scheduler.heartbeats import Heartbeats
from runyard.scheduler.states import Fact
from runyard.scheduler.stranded import Stranded, pause_after
from runyard.scheduler.target_queues import TargetQueue, TargetQueues
from runyard.scheduler.transitions import Transitions
from runyard.scheduler.worker import RETRY_AFTER
from runyard.store.content import files
from runyard.store.runs import attempts, runs
from runyard.store.runs.records import SERVICE
from runyard.store.runs.runs import Run
from runyard.store.store import Store

log = logging.getLogger("runyard.scheduler")

RESCUES = 3
"""So many new node runners are sent to deliver what a dead one left before the run counts as failed."""

EXPLAINED_WITHIN = 60.0
"""Seconds for which the end of a run that was stopped from outside is held back, until the cluster gives a reason."""

STORED_AFTER = 0.5
"""Seconds after a start on this machine until its handle is stored, with those of others. A server that is killed
before that finds the runners by the locks of the run's folders."""

ASKED_AGAIN_AFTER = 10.0
"""Seconds after which a gang on this machine that was asked to end, and has not, is asked again. It costs nothing, and
whatever made the first signal miss (a runner that was about to take over from another) is over by then."""

PROMISE = "promise"
"""The key that marks the handle of a gang whose start was not seen to return; its value is the engine's promise."""

_NOT_UP_YET = (names.PROVISIONING, names.PREPARING, names.STARTING)


class Gangs:
    """The gangs of all runs. It is the `EngineEvents` of the engines that it calls."""

    def __init__(
        self,
        store: Store,
        folders: RunFolders,
        queues: TargetQueues,
        transitions: Transitions,
        heartbeats: Heartbeats,
        stranded: Stranded,
        admission: Admission,
    ) -> None:
        self._store, self._folders = store, folders
        self._queues, self._transitions, self._heartbeats = queues, transitions, heartbeats
        self._stranded, self._admission = stranded, admission
        self._rescues: dict[str, int] = {}
        self._held_ends: dict[str, Fact] = {}
        self._unstored: dict[str, Handle] = {}  # of runs on this machine that were started a moment ago
        self._closing = False

    def forget(self, run_id: str) -> None:
        self._rescues.pop(run_id, None)
        self._held_ends.pop(run_id, None)
        self._unstored.pop(run_id, None)

    def settled(self, run_id: str) -> None:
        """A replica of a service answers: what went wrong before counts no more."""
        self._rescues.pop(run_id, None)

    def close(self) -> None:
        """Act on no further end of a gang: the next server does."""
        self._closing = True
        self._store_handles()

    # What engines report (`runyard.engines.base.EngineEvents`)

    def waits(self, run_id: str, reason: str) -> None:
        queue = self._queues.of_run(run_id)
        if queue is not None:
            queue.worker.post(lambda: self._transitions.apply(run_id, Fact(states.WAITS, reason=reason)))

    def placed(self, run_id: str) -> None:
        queue = self._queues.of_run(run_id)
        if queue is None or queue.ours:  # a run on this machine has its nodes before it is started
            return
        queue.placed(run_id)
        queue.worker.post(lambda: self._placed(queue, run_id))

    def gone(self, run_id: str, how: str, taken: bool = False) -> None:
        if self._closing:
            return
        queue = self._queues.of_run(run_id)
        if queue is not None:
            queue.worker.post(lambda: self._gone(queue, run_id, how, taken))
        else:  # its end was reported, or it was given up
            self._stranded.gone(run_id, how)

    # What the worker of a queue does

    def watch(self, queue: TargetQueue, run_id: str) -> None:
        """Find the gang of a run again that a former server has started."""
        run, handle = self._look_up(run_id)
        try:
            if handle is None:  # on this machine it is stored a moment after the start
                alive = queue.ours and self._found(queue, run_id, {})
            elif RESCUE in handle:
                alive = self._folders.watch(run_id, handle, self)
            elif PROMISE in handle:
                alive = self._found(queue, run_id, handle[PROMISE])
            else:
                alive = queue.engine.watch(run_id, handle, self)
        except EngineAway:
            raise
        except EngineError as error:  # an engine that is broken now may be repaired while the gang goes on
            log.error("run %s cannot be watched: %s", run_id, error)
            queue.worker.post(lambda: self.watch(queue, run_id), after=RETRY_AFTER)
            return
        if not alive:
            self._gone(queue, run_id, "it ended while no server was running")
        elif _is_to_end(run):
            self.stop(queue, run_id)

    def start(self, queue: TargetQueue, gang: Gang) -> None:
        """Start a gang. Should the server die before it knows that it is started, the next one looks for it first."""
        if queue.ours:  # the folders show it
            self._unstored[gang.run_id] = queue.engine.start(gang, self)
            queue.worker.post(self._store_handles, "handles", STORED_AFTER)
            return
        self._set_handle(gang.run_id, {PROMISE: queue.engine.promise(gang)})
        self._set_handle(gang.run_id, queue.engine.start(gang, self))

    def take_up(self, queue: TargetQueue, run_id: str) -> bool:
        """Whether the gang of a waiting run was started after all, and the cluster or the server went away before
        that was known. Then it is watched, or what it left is delivered."""
        _, handle = self._look_up(run_id)
        if handle is None or PROMISE not in handle:
            return False
        if self._found(queue, run_id, handle[PROMISE]):
            return True
        if self._folders.begun(run_id):
            self._gone(queue, run_id, "it ended while no server was running")
            return True
        return False

    def stop(self, queue: TargetQueue, run_id: str) -> None:
        """Ask the gang to end, if there is one; on this machine again and again, until the run has ended."""
        run, handle = self._look_up(run_id)
        if queue.ours and _is_to_end(run):
            queue.worker.post(lambda: self._stop_again(queue, run_id), f"stop {run_id}", ASKED_AGAIN_AFTER)
        if handle is None:
            return
        if RESCUE in handle:
            self._folders.stop(run_id, handle)
        elif PROMISE in handle:
            queue.engine.stop(run_id, handle[PROMISE])
            self._stranded.look(run_id)
        else:
            queue.engine.stop(run_id, handle)

    def _stop_again(self, queue: TargetQueue, run_id: str) -> None:
        run, _ = self._look_up(run_id)
        if _is_to_end(run):
            self.stop(queue, run_id)

    def hold_end(self, queue: TargetQueue, run_id: str, fact: Fact) -> Run | None:
        """Hold back the end of a run that nobody here has stopped until the cluster reports whether it took the nodes
        away; None when there is no need to. Any thread may call."""
        if queue.ours or not fact.stopped or fact.timed_out:
            return None
        run, _ = self._look_up(run_id)
        stopped_here = run.status == names.CANCEL_REQUESTED or states.is_declared(run.error)
        if run.ended or run.restart is not None or stopped_here:
            return None
        self._held_ends[run_id] = fact
        queue.worker.post(lambda: self._explain_no_longer(run_id), after=EXPLAINED_WITHIN)
        return self._transitions.apply(run_id, Fact(states.FINALIZING, reason=f"stopped by {queue.target.name}"))

    def _placed(self, queue: TargetQueue, run_id: str) -> None:
        self._heartbeats.expect(run_id)
        if self._transitions.apply(run_id, Fact(states.PLACED, reason=starting_on(queue))).ended:
            self._heartbeats.forget(run_id)
        queue.wake()

    def _gone(self, queue: TargetQueue, run_id: str, how: str, taken: bool = False) -> None:
        """No node runner of a run is alive. If none has reported how the run ended, another one delivers what is
        left."""
        run, handle = self._look_up(run_id)
        if taken:
            run = self._transitions.apply(run_id, Fact(states.TAKEN, reason=f"its nodes were taken away ({how})"))
        run = self._apply_held_end(run, how, taken)
        if run.ended:
            self._stranded.gone(run_id, how)
            return
        tries = self._rescues[run_id] = self._rescues.get(run_id, 0) + 1
        started = handle is not None and PROMISE not in handle
        if not started and run.status in _NOT_UP_YET and tries <= RESCUES and not self._folders.begun(run_id):
            self._folders.clear(run_id)
            self._admission.enqueue(run)  # the server died before it had started anything
        elif tries > RESCUES:
            self._give_up(run_id, how)
        elif tries == 1 or self._folders.to_rescue(run_id) is None:
            self._rescue(queue, run_id, how)
        else:
            queue.worker.post(lambda: self._rescue(queue, run_id, how), after=pause_after(tries - 1))

    def _rescue(self, queue: TargetQueue, run_id: str, how: str) -> None:
        """Let another node runner deliver what a dead one left; without anything left, the run is over."""
        run, _ = self._look_up(run_id)
        if run.ended:  # meanwhile
            self._stranded.gone(run_id, how)
            return
        if run.kind == SERVICE and run.status == names.CANCEL_REQUESTED:
            self._folders.give_up(run_id)  # a successor would go on with it
        try:
            rescue = self._folders.rescue(run_id, self)
        except EngineError as error:
            log.error("run %s could not be taken up after its node runner was gone: %s", run_id, error)
            queue.worker.post(lambda: self._gone(queue, run_id, how), after=RETRY_AFTER)
            return
        if rescue is not None:
            log.warning("the node runner of %s is gone (%s); another one delivers what it left", run_id, how)
            self._set_handle(run_id, rescue)
            if _is_to_end(run):  # it may be no rescuer but a runner that nobody knew of, and has not been asked
                self.stop(queue, run_id)
            return
        if not run.between_attempts:
            run = self._transitions.fail(run_id, "NodeRunnerLost", _lost(how))
        if run.between_attempts:
            self._begin_next(run_id)

    def _give_up(self, run_id: str, how: str) -> None:
        """Nobody waits any longer for a run whose rescuers die. What it left is delivered when that works."""
        message = _lost(how)
        self._folders.give_up(run_id)
        if self._folders.worked_in(run_id):
            message += f" What it has left in {self._folders.of(run_id)} is delivered as soon as that works."
        self._transitions.fail(run_id, "NodeRunnerLost", message, final=True)
        self._stranded.look(run_id, RESCUES)

    def _begin_next(self, run_id: str) -> None:
        """The run waits for its next attempt, now that everything of the former one is delivered and removed."""
        files.seal(self._store, run_id)
        self._folders.clear(run_id)
        with self._store.database.write() as connection:
            if not runs.get(connection, run_id).between_attempts:
                return  # it was cancelled meanwhile
            attempts.begin_next(connection, run_id)
            run = runs.get(connection, run_id)
        self.forget(run_id)
        self._admission.enqueue(run)

    def _apply_held_end(self, run: Run, how: str, taken: bool) -> Run:
        """Apply the end that was held back, if there is one."""
        fact = self._held_ends.get(run.id)
        if fact is None:
            return run
        if not taken:
            reason = f"The node runners of this run were stopped from outside ({how})."
            error = {**(fact.error or {}), "code": "StoppedFromOutside", "message": reason}
            fact = replace(fact, reason=reason, error=error)
        run = self._transitions.end(run.id, fact)
        self._held_ends.pop(run.id, None)
        return run

    def _explain_no_longer(self, run_id: str) -> None:
        if run_id in self._held_ends:
            self._apply_held_end(self._look_up(run_id)[0], "its cluster does not say why", taken=False)

    def _found(self, queue: TargetQueue, run_id: str, promise: Handle) -> bool:
        handle = queue.engine.find(run_id, promise, self)
        if handle is not None:
            self._set_handle(run_id, handle)
        return handle is not None

    def _store_handles(self) -> None:
        """Store the handles of runs that still go on: many short ones have ended by now."""
        handles = dict(self._unstored)
        if handles:
            with self._store.database.write() as connection:
                runs.set_handles(connection, handles)
        for run_id, handle in handles.items():
            if self._unstored.get(run_id) is handle:
                del self._unstored[run_id]

    def _set_handle(self, run_id: str, handle: Handle) -> None:
        self._unstored.pop(run_id, None)
        with self._store.database.write() as connection:
            runs.set_handle(connection, run_id, handle)

    def _look_up(self, run_id: str) -> tuple[Run, Handle | None]:
        with self._store.database.read() as connection:
            run = runs.get(connection, run_id)
            return run, self._unstored.get(run_id) or runs.handle(connection, run_id)


def _is_to_end(run: Run) -> bool:
    """Whether somebody has asked for the end of what is under way of a run."""
    asked = run.status == names.CANCEL_REQUESTED or run.restart is not None or states.is_declared(run.error)
    return asked and not run.ended


def starting_on(queue: TargetQueue) -> str:
    return f"a node runner starts on {queue.target.name}"


def _lost(how: str) -> str:
    return f"The node runner of this run ended before it could tell how the run went ({how})."
