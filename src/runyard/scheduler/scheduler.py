"""The scheduler: takes runs from submit to their end, by events.

All that it knows is in the database, so it can be killed at any time: on start it takes up the runs that are under
way, finds their node runners again, and has what dead ones left behind delivered.

What an engine is asked for, and what it tells, is dealt with by the worker of the run's compute target, one thing
after the other: a cluster that hangs keeps nobody waiting but its own runs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from runyard.contracts import states as names
from runyard.contracts.compute import Node, Status, Target
from runyard.engines.base import EngineAway, EngineError
from runyard.engines.registry import Engines
from runyard.scheduler import plans, states
from runyard.scheduler.gangs import NodeRunners
from runyard.scheduler.heartbeats import Silence
from runyard.scheduler.plans import Surroundings as Surroundings
from runyard.scheduler.states import Fact
from runyard.scheduler.stranded import Stranded
from runyard.scheduler.target_queues import NOTHING, Line, Lines
from runyard.scheduler.transitions import Ledger
from runyard.scheduler.worker import TRY_AGAIN_AFTER, Worker
from runyard.store.content.secrets import SecretMissing
from runyard.store.errors import Conflict, StoreError
from runyard.store.runs import attempts, family, runs
from runyard.store.runs.runs import Run, StateChange
from runyard.store.store import Store

log = logging.getLogger("runyard.scheduler")

LOOK_EVERY = 5.0
"""Seconds between two looks for runs that have fallen silent."""

_START = "start"


class Scheduler:
    """Starts queued runs, and applies facts to runs. Every public method may be called from any thread."""

    def __init__(
        self,
        store: Store,
        engines: Engines,
        surroundings: Surroundings,
        notify: Callable[[str, StateChange], None],
    ) -> None:
        self._store = store
        self._engines = engines
        self._surroundings = surroundings
        self._lines = Lines(store, engines)
        self._ledger = Ledger(store, self._is_replaceable, notify, self._changed)
        self._silence = Silence(self._ledger)
        self._stranded = Stranded(store, engines.folders, self)
        self._runners = NodeRunners(store, engines.folders, self._ledger, self, self._stranded, self._enqueue)
        self._worker = Worker("scheduler")
        self._closing = False

    def start(self) -> None:
        """Take up what a former server has left. Nothing here waits for a cluster."""
        with self._store.database.read() as connection:
            under_way = runs.active(connection)
        # Those that hold nodes are known before the first of those that wait may start.
        jobs = [job for job in map(self._take_up, under_way) if job is not None]
        for job in jobs:
            job()
        self._worker.post(self._take_up_left)
        self._worker.post(self._look_for_silence, "silence")

    def close(self) -> None:
        """Stop scheduling. Runs go on: their node runners do not need the server."""
        self._closing = True
        self._worker.close()
        self._stranded.close()
        self._lines.close()

    # What is told of runs, and asked for them

    def submitted(self, run_id: str) -> None:
        """A run was stored. One with a launch is put in the queue of its target; the others are led by their maker."""
        with self._store.database.read() as connection:
            run = runs.get(connection, run_id)
        if run.led:
            self._silence.expect(run_id, family.origin(run))
        else:
            self._enqueue(run)

    def contact(self, run_id: str) -> None:
        """Something was heard from a run's reporter."""
        self._silence.heard(run_id)

    def report(self, run_id: str, fact: Fact) -> Run:
        """Apply what a run's reporter saw; returns the run after it."""
        if fact.kind != states.ENDED:
            run = self._ledger.apply(run_id, fact)
            if not (run.ended or run.between_attempts):
                self._silence.expect(run_id)
            return run
        line = self._lines.of_run(run_id)
        kept = self._runners.keep_back(line, run_id, fact) if line is not None else None
        return kept or self._ledger.end(run_id, fact)

    def cancel(self, run_id: str) -> Run:
        """Ask a run and its descendants to stop."""
        with self._store.database.read() as connection:
            descendants = runs.descendants(connection, run_id)
        for each in [*descendants, run_id]:
            line = self._lines.of_run(each)
            status = self._ledger.apply(each, Fact(states.CANCEL)).status
            if line is not None and status in (names.CANCEL_REQUESTED, names.CANCELED):
                self._stop(line, each)
        with self._store.database.read() as connection:
            return runs.get(connection, run_id)

    def declare(self, run_id: str, outcome: str, error: dict[str, Any] | None) -> Run:
        """Somebody other than its reporter says how a run ends. A script that is under way is ended for it; the run's
        end follows when that is done and all that it wrote is stored."""
        line = self._lines.of_run(run_id)
        with self._store.database.read() as connection:
            run = runs.get(connection, run_id)
        at_once = run.led or run.status in (names.NOT_STARTED, names.QUEUED)
        apply = self._ledger.end if at_once else self._ledger.apply
        run = apply(run_id, Fact(states.DECLARED, outcome=outcome, error=error))
        if line is not None and (run.ended or states.is_declared(run.error)):
            self._stop(line, run_id)
        return run

    def preempt(self, run_id: str) -> Run:
        """End the attempt of a run that is under way; another one follows it."""
        line = self._lines.of_run(run_id)
        run = self._ledger.apply(run_id, Fact(states.PREEMPT))
        if line is None or run.ended or run.restart is None or run.status == names.CANCEL_REQUESTED:
            raise Conflict(
                "run_not_under_way",
                f"The run {run_id!r} cannot be preempted: it is {run.status}.",
                "That can be done to a submitted run once its target has taken it up, until its script has ended.",
                {"run": run_id, "status": run.status},
            )
        self._stop(line, run_id)
        return run

    def forget(self, run_id: str) -> None:
        """A run was deleted, and what node runners have left of it goes too."""
        self._silence.forget(run_id)
        self._runners.forget(run_id)
        self._lines.leave(run_id)
        self._stranded.forget(run_id)

    def left(self) -> list[Run]:
        """The runs of which something lies in a folder here: those under way, and those of which it was not delivered
        yet."""
        with self._store.database.read() as connection:
            found = [runs.look_up(connection, run_id) for run_id in self._engines.folders.left()]
        return [run for run in found if run is not None]

    def seen(self, run: Run) -> Run:
        """A run as it is to be shown: the reason of one that waits is what it waits for at this moment."""
        line = self._lines.of_run(run.id) if run.status == names.QUEUED else None
        why = line.why(run.id) if line is not None else None
        return run if why is None else replace(run, reason=why)

    def meet(self, run_id: str, attempt: int, address: str) -> None:
        """The leader of a gang has said where the others meet it."""
        with self._store.database.write() as connection:
            attempts.meet(connection, run_id, attempt, address)

    def meeting(self, run_id: str, attempt: int) -> str | None:
        """Where the leader of a gang is to be met; None as long as it has not said."""
        with self._store.database.read() as connection:
            return attempts.meeting(connection, run_id, attempt)

    # Compute targets

    def status(self, workspace: str, target: Target) -> Status:
        line = self._lines.of(workspace, target.name)
        return Status(counts=NOTHING) if line is None else line.status()

    def nodes(self, workspace: str, target: Target) -> list[Node]:
        """The nodes that a target has now. EngineError when its cluster cannot be asked."""
        line = self._lines.of(workspace, target.name)
        return [] if line is None else line.nodes()

    def holders(self, workspace: str, name: str) -> list[str]:
        """The runs that are under way on a target, then those that wait for it."""
        line = self._lines.of(workspace, name)
        return [] if line is None else line.runs()

    def most_nodes(self, workspace: str, target: Target) -> int | None:
        """How many nodes a run can ever have on a target; None when that cannot be known."""
        line = self._lines.of(workspace, target.name)
        return None if line is None else line.most_nodes()

    def check(self, target: Target) -> None:
        """EngineError when nothing could ever run on such a target, EngineAway when its cluster does not answer."""
        self._engines.of(target).check(target)

    def target_changed(self, workspace: str, name: str) -> None:
        """A target was made, changed or removed."""
        line = self._lines.changed(workspace, name)
        if line is not None:
            self._wake(line)

    # What engines tell (`runyard.engines.base.EngineEvents`)

    def waits(self, run_id: str, reason: str) -> None:
        line = self._lines.of_run(run_id)
        if line is not None:
            line.worker.post(lambda: self._ledger.apply(run_id, Fact(states.WAITS, reason=reason)))

    def placed(self, run_id: str) -> None:
        line = self._lines.of_run(run_id)
        if line is None or line.ours:  # a run on this machine has its nodes before it is started
            return
        line.placed(run_id)
        line.worker.post(lambda: self._placed(line, run_id))

    def gone(self, run_id: str, how: str, taken: bool = False) -> None:
        if self._closing:
            return  # the next server takes it up
        line = self._lines.of_run(run_id)
        if line is not None:
            line.worker.post(lambda: self._runners.gone(line, run_id, how, taken))
        else:  # it has told how it ended, or was given up
            self._stranded.gone(run_id, how)

    # From the queue to the engine

    def _enqueue(self, run: Run) -> None:
        line = self._lines.enter(run)
        if line is None:
            message = f"There is no compute target {run.target!r} in the workspace {run.workspace!r} any more."
            self._ledger.fail(run.id, "UnknownTarget", message, final=True)
            self._stranded.look(run.id)
            return
        line.wait(run)
        self._wake(line)

    def _wake(self, line: Line) -> None:
        line.worker.post(lambda: self._start_next(line), key=_START)

    def _start_next(self, line: Line) -> None:
        """Start the run whose turn it is, if there is one. The worker may have other things to do before the next."""
        if line.away is not None and time.monotonic() < line.ask_again_at:
            line.worker.post(lambda: self._start_next(line), key=_START, after=line.ask_again_at - time.monotonic())
            run_id = None
        else:
            run_id = line.next()
        if run_id is None:
            for each, why in line.untold():
                self._ledger.apply(each, Fact(states.QUEUE, reason=why))
            return
        try:
            self._launch(line, run_id)
            line.away = None
        except EngineAway as error:
            self._put_off(line, run_id, str(error))
        except (EngineError, SecretMissing) as error:
            self._ledger.fail(run_id, type(error).__name__, str(error))
            self._stranded.look(run_id)  # its plan holds a token
        except StoreError as error:
            if error.code != "run_not_found":
                line.give_back(run_id)
                raise
            self._lines.leave(run_id)
        except Exception as error:
            log.exception("run %s could not be started", run_id)
            self._ledger.fail(run_id, "EngineError", f"The run could not be started on {line.target.name}: {error!r}.")
        self._wake(line)

    def _launch(self, line: Line, run_id: str) -> None:
        if line.ours:
            run = self._ledger.apply(run_id, Fact(states.PLACED, reason=_starting(line)))
            self._silence.expect(run_id)
        else:  # it stays in the queue until the cluster has taken it
            with self._store.database.read() as connection:
                run = runs.get(connection, run_id)
        # A start that failed, or of a former server, was given up since: there is nothing to be ended.
        if run.status == names.CANCEL_REQUESTED or states.is_declared(run.error):
            run = self._ledger.end(run_id, Fact(states.ENDED, outcome="canceled"))
        if run.ended:  # cancelled while it waited
            self._lines.leave(run_id)
            return
        if line.ours or not self._runners.take_up(line, run_id):
            self._runners.start(line, plans.gang(self._store, self._surroundings, run, line.target))
        if not line.ours:
            run = self._ledger.apply(run_id, Fact(states.HAND_OVER, reason=f"handed over to {line.target.name}"))
            if run.ended:  # cancelled while it was handed over
                self._runners.stop(line, run_id)

    def _put_off(self, line: Line, run_id: str, why: str) -> None:
        """The cluster does not answer, or this machine could not start anything: the run waits, and so do those behind
        it."""
        self._silence.forget(run_id)
        line.give_back(run_id)
        line.away = f"waits for {line.target.name} to answer: {why}"
        line.ask_again_at = time.monotonic() + TRY_AGAIN_AFTER
        with self._store.database.read() as connection:
            told = runs.get(connection, run_id).reason == line.away
        if not told:
            # On this machine it is known that nothing of the run has begun; a cluster may have placed it meanwhile.
            self._ledger.apply(run_id, Fact(states.BACK if line.ours else states.AWAY, reason=line.away))

    def _placed(self, line: Line, run_id: str) -> None:
        self._silence.expect(run_id)
        if self._ledger.apply(run_id, Fact(states.PLACED, reason=_starting(line))).ended:
            self._silence.forget(run_id)
        self._wake(line)

    # What follows from a change

    def _changed(self, run: Run) -> None:
        """A run has another state now."""
        if run.status == names.RUNNING:
            line = self._lines.of_run(run.id)
            if line is not None:
                line.started(run.id)
        elif run.between_attempts:
            self._silence.forget(run.id)
        elif run.ended:
            self._silence.forget(run.id)
            self._runners.forget(run.id)
            line = self._lines.leave(run.id)
            if line is not None:
                self._wake(line)
            if not run.led:
                self._end_led_children(run)

    def _end_led_children(self, parent: Run) -> None:
        """Child runs that the script led, and did not end itself, end as it did: nobody else is left to lead them."""
        with self._store.database.read() as connection:
            children = list(family.led_from(connection, parent.id))
        outcome = {names.COMPLETED: "completed", names.CANCELED: "canceled"}.get(parent.status, "failed")
        error = None
        if outcome == "failed":
            error = {"code": "ParentFailed", "message": f"Its parent run {parent.id} failed: {parent.reason}"}
        for child in children:
            if child.led and not child.ended:
                reason = f"ended with its parent run {parent.id}"
                self.report(child.id, Fact(states.ENDED, outcome=outcome, error=error, reason=reason))

    def _take_up(self, run: Run) -> Callable[[], None] | None:
        """A run that was under way when the former server ended. Returns what is left to be done for it."""
        if run.led:
            self._silence.expect(run.id, family.origin(run))
            return None
        line = self._lines.enter(run)
        waits = run.status in (names.NOT_STARTED, names.QUEUED) and not run.between_attempts
        if line is None or waits:
            return lambda: self._enqueue(run)
        running = run.status not in (names.QUEUED, names.PROVISIONING, names.PREPARING, names.STARTING)
        line.hold(run, running, placed=line.ours or run.status != names.PROVISIONING)
        if run.status not in (names.QUEUED, names.PROVISIONING):
            self._silence.expect(run.id)
        return lambda: line.worker.post(lambda: self._runners.watch(line, run.id))

    def _take_up_left(self) -> None:
        """Have delivered what lies here of runs that are over. On a cluster, one that was given up may be alive."""
        for run in self.left():
            if not run.ended:
                continue
            line = self._lines.of(run.workspace, run.target)
            if line is None or line.ours:
                self._stranded.look(run.id)
            else:
                line.worker.post(partial(self._runners.watch, line, run.id))

    def _stop(self, line: Line, run_id: str) -> None:
        line.worker.post(lambda: self._runners.stop(line, run_id))

    def _is_replaceable(self, run: Run) -> bool:
        line = self._lines.of_run(run.id)
        return line is not None and line.target.low_priority

    def _look_for_silence(self) -> None:
        self._worker.post(self._look_for_silence, "silence", LOOK_EVERY)
        for run in self._silence.look():
            line = self._lines.of_run(run.id)
            if line is not None and run.between_attempts:
                self._stop(line, run.id)  # only silence said that its attempt is over


def _starting(line: Line) -> str:
    return f"a node runner starts on {line.target.name}"
