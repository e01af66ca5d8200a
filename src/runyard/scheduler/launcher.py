"""From the queue to the engine: starts the run whose turn it is, or lets it wait until its cluster answers."""

from __future__ import annotations

import logging
import time

from runyard.contracts import states as names
from runyard.engines.base import EngineAway, EngineError
from runyard.scheduler import plans, states
from runyard.scheduler.gangs import Gangs, starting_on
from runyard.scheduler.heartbeats import Heartbeats
from runyard.scheduler.plans import Surroundings
from runyard.scheduler.states import Fact
from runyard.scheduler.stranded import Stranded
from runyard.scheduler.target_queues import TargetQueue, TargetQueues
from runyard.scheduler.transitions import Transitions
from runyard.scheduler.worker import RETRY_AFTER
from runyard.store.content.secrets import SecretMissing
from runyard.store.errors import StoreError
from runyard.store.runs import runs
from runyard.store.runs.runs import Run
from runyard.store.store import Store

log = logging.getLogger("runyard.scheduler")

EXPLAINED_AFTER = 0.1
"""Seconds after which a run that waits is stored as one that does, with the reason."""


class Launcher:
    """Its methods are called by the worker of the queue."""

    def __init__(
        self,
        store: Store,
        surroundings: Surroundings,
        queues: TargetQueues,
        transitions: Transitions,
        heartbeats: Heartbeats,
        stranded: Stranded,
        gangs: Gangs,
    ) -> None:
        self._store, self._surroundings = store, surroundings
        self._queues, self._transitions, self._heartbeats = queues, transitions, heartbeats
        self._stranded, self._gangs = stranded, gangs

    def start_next(self, queue: TargetQueue) -> None:
        """Start the run whose turn it is, if there is one. The worker may have other things to do before the next."""
        if queue.away is not None and time.monotonic() < queue.retry_at:
            queue.wake(after=queue.retry_at - time.monotonic())
            run_id = None
        else:
            run_id = queue.next()
        if run_id is None:
            if queue.has_newly_waiting:
                queue.worker.post(lambda: self._explain_waiting(queue), key="waiting", after=EXPLAINED_AFTER)
            return
        try:
            self._launch(queue, run_id)
            queue.away = None
        except EngineAway as error:
            self._put_off(queue, run_id, str(error))
        except (EngineError, SecretMissing) as error:
            self._transitions.fail(run_id, type(error).__name__, str(error))
            self._stranded.look(run_id)  # its plan holds a token
        except StoreError as error:
            if error.code != "run_not_found":
                queue.give_back(run_id)
                raise
            self._queues.leave(run_id)
        except Exception as error:
            log.exception("run %s could not be started", run_id)
            message = f"The run could not be started on {queue.target.name}: {error!r}."
            self._transitions.fail(run_id, "EngineError", message)
        queue.wake()

    def _explain_waiting(self, queue: TargetQueue) -> None:
        """Store what runs wait for, of many together, and not of one whose turn came at once."""
        waiting = dict(queue.newly_waiting())
        if waiting:
            self._transitions.apply_to_many({each: Fact(states.QUEUE, reason=why) for each, why in waiting.items()})

    def _launch(self, queue: TargetQueue, run_id: str) -> None:
        run = self._prepared(queue, run_id)
        # A start that failed, or of a former server, was given up since: there is nothing to be ended.
        if run.status == names.CANCEL_REQUESTED or states.is_declared(run.error):
            run = self._transitions.end(run_id, Fact(states.ENDED, outcome="canceled"))
        if run.ended:  # cancelled while it waited
            self._queues.leave(run_id)
            return
        if queue.ours or not self._gangs.take_up(queue, run_id):
            self._gangs.start(queue, plans.gang(self._store, self._surroundings, run, queue.target))
        if not queue.ours:
            reason = f"handed over to {queue.target.name}"
            if self._transitions.apply(run_id, Fact(states.HAND_OVER, reason=reason)).ended:
                self._gangs.stop(queue, run_id)  # cancelled while it was handed over

    def _prepared(self, queue: TargetQueue, run_id: str) -> Run:
        """The run as it is before its start. On a cluster it stays in the queue until the cluster has taken it."""
        if queue.ours:
            run = self._transitions.apply(run_id, Fact(states.PLACED, reason=starting_on(queue)))
            if not run.ended:  # else nobody would ever forget it
                self._heartbeats.expect(run_id)
            return run
        with self._store.database.read() as connection:
            return runs.get(connection, run_id)

    def _put_off(self, queue: TargetQueue, run_id: str, why: str) -> None:
        """The cluster does not answer, or this machine could not start anything: the run waits, and so do those behind
        it."""
        self._heartbeats.forget(run_id)
        queue.give_back(run_id)
        queue.away = f"waits for {queue.target.name} to answer: {why}"
        queue.retry_at = time.monotonic() + RETRY_AFTER
        with self._store.database.read() as connection:
            stored = runs.get(connection, run_id).reason == queue.away
        if not stored:
            # On this machine it is known that nothing of the run has begun; a cluster may have placed it meanwhile.
            self._transitions.apply(run_id, Fact(states.BACK if queue.ours else states.AWAY, reason=queue.away))
