"""The scheduler: takes runs from submit to their end, by events.

All that it knows is in the database, so it can be killed at any time: on start it takes up the runs that are under
way, finds their node runners again, and has what dead ones left behind delivered.

This is where its parts are put together, and what the server calls. A part knows the ones above it in this list alone:

    target_queues   which run waits for which target, and whose turn it is
    transitions     stores every change of a run's state, and informs its subscribers
    heartbeats      gives up runs that have fallen silent
    stranded        delivers what is left of runs that are over
    admission       puts a run in its queue
    gangs           starts, watches and stops node runners through the engines
    launcher        starts the run whose turn it is
    sweeps          samples, judges and replaces the children of sweeps
    services        starts and replaces the replicas of services

Calls to an engine, and its events, are jobs of the worker of the run's compute target, one after the other: a cluster
that hangs delays nobody but its own runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from runyard.contracts import states as names
from runyard.contracts.compute import Node, Status, Target
from runyard.engines.registry import Engines
from runyard.scheduler import states
from runyard.scheduler.admission import Admission
from runyard.scheduler.gangs import Gangs
from runyard.scheduler.heartbeats import Heartbeats
from runyard.scheduler.launcher import Launcher
from runyard.scheduler.plans import Surroundings as Surroundings
from runyard.scheduler.services.services import Services
from runyard.scheduler.states import Fact
from runyard.scheduler.stranded import Stranded
from runyard.scheduler.sweeps.sweeps import Sweeps
from runyard.scheduler.target_queues import NOTHING, TargetQueue, TargetQueues
from runyard.scheduler.transitions import Transitions
from runyard.scheduler.worker import Worker
from runyard.store.content.files import Begun
from runyard.store.content.objects import Stored
from runyard.store.errors import Conflict
from runyard.store.runs import attempts, family, runs
from runyard.store.runs.records import SWEEP
from runyard.store.runs.runs import Run, StateChange
from runyard.store.store import Store

CHECK_EVERY = 5.0
"""Seconds between two checks for runs that have fallen silent."""


class Scheduler:
    """Starts queued runs, and applies facts to runs. Every public method may be called from any thread."""

    def __init__(
        self,
        store: Store,
        engines: Engines,
        surroundings: Surroundings,
        notify: Callable[[str, StateChange], None],
        grown: Callable[[str, str, int], None] = lambda run_id, name, size: None,
    ) -> None:
        self._store = store
        self._engines = engines
        self._queues = queues = TargetQueues(store, engines)
        self._transitions = transitions = Transitions(store, queues.is_replaceable)
        self._heartbeats = heartbeats = Heartbeats(transitions)
        self._stranded = stranded = Stranded(store, engines.folders)
        self._admission = Admission(queues, transitions, stranded)
        self._gangs = gangs = Gangs(store, engines.folders, queues, transitions, heartbeats, stranded, self._admission)
        launcher = Launcher(store, surroundings, queues, transitions, heartbeats, stranded, gangs)
        self._worker = Worker("scheduler")
        queues.subscribe(launcher.start_next)
        transitions.subscribe(lambda run, change: notify(run.id, change))
        transitions.subscribe(self._follow_up)
        self.sweeps = Sweeps(store, transitions, self._admission.enqueue, self.cancel, grown)
        self.services = Services(
            store,
            surroundings.home,
            surroundings.secrets,
            surroundings.user_token,
            transitions,
            self._admission.enqueue,
            self.cancel,
            self.forget,
            gangs.settled,
        )

    def start(self) -> None:
        """Take up what a former server has left. Nothing here waits for a cluster."""
        with self._store.database.read() as connection:
            under_way = runs.active(connection)
        # Those that hold nodes are known before the first of those that wait may start.
        jobs = [job for job in map(self._take_up, under_way) if job is not None]
        for job in jobs:
            job()
        self.services.start()
        self._worker.post(self._take_up_left)
        self._worker.post(self._check_heartbeats, "heartbeats")

    def close(self) -> None:
        """Stop scheduling. Runs go on: their node runners do not need the server."""
        self.sweeps.close()
        self.services.close()
        self._gangs.close()
        self._worker.close()
        self._stranded.close()
        self._queues.close()

    # What is reported of runs, and requested for them

    def submitted(self, run: Run) -> None:
        """A run was stored. One with a launch is put in the queue of its target; the others are led by their maker."""
        if run.led:
            self._expect_led(run)
        elif run.kind == SWEEP:
            self.sweeps.take_up(run)
        else:
            self._admission.enqueue(run)

    def contact(self, run_id: str) -> None:
        """A run's reporter gave a sign of life."""
        self._heartbeats.received(run_id)

    def alive(self, run_id: str) -> None:
        """The reporter of a run that has not ended was there. Nothing is stored."""
        self._heartbeats.expect(run_id)

    def held(self, run_id: str, seconds: float) -> None:
        """The response to the reporter of a run is held: it need not come before."""
        self._heartbeats.held(run_id, seconds)

    def cut(self, run_id: str) -> None:
        """The connection on which a response was held is lost."""
        self._heartbeats.cut(run_id)

    def live(self) -> int:
        """How many runs are expected to give signs of life."""
        return len(self._heartbeats)

    def report(self, run_id: str, fact: Fact) -> Run:
        """Apply what a run's reporter saw; returns the run after it."""
        if fact.kind == states.SERVES:
            self.services.reported(run_id, fact.service or {})
        if fact.kind == states.HEARTBEAT and (running := self._unchanged_by_heartbeat(run_id)) is not None:
            return running
        if fact.kind != states.ENDED:
            run = self._transitions.apply(run_id, fact)
            if run.beats and not (run.ended or run.between_attempts):
                self._heartbeats.expect(run_id)
            return run
        queue = self._queues.of_run(run_id)
        held = self._gangs.hold_end(queue, run_id, fact) if queue is not None else None
        return held or self._transitions.end(run_id, fact)

    def report_all(self, run_id: str, facts: Sequence[Fact]) -> Run:
        """The same for several, which are stored together. An end that its cluster may have to explain, or facts after
        an end, are stored one by one."""
        if self._end_together(run_id, facts):
            return self._transitions.end(run_id, *facts)
        if any(fact.kind == states.SERVES for fact in facts):
            return [self.report(run_id, fact) for fact in facts][-1]
        if not _are_plain(facts):
            return [self.report(run_id, fact) for fact in facts][-1]
        run = self._transitions.apply(run_id, *facts)
        if not (run.ended or run.between_attempts):
            self._heartbeats.expect(run_id)
        return run

    def report_short_life(self, run_id: str, facts: Sequence[Fact], logs: Mapping[str, Stored]) -> Run | None:
        """The same for facts with an end, and the logs of a run that has none yet; None, and nothing is stored, where
        they have to be stored one by one."""
        try:
            return self._transitions.end_with(logs, run_id, *facts) if self._end_together(run_id, facts) else None
        except Begun:
            return None

    def _end_together(self, run_id: str, facts: Sequence[Fact]) -> bool:
        if facts[-1].kind != states.ENDED or any(fact.kind == states.SERVES for fact in facts):
            return False
        queue = self._queues.of_run(run_id)
        return (queue is None or queue.ours) and _are_plain(facts[:-1])

    def cancel(self, run_id: str, reason: str | None = None) -> Run:
        """Ask a run and its descendants to stop; `reason` is why, where it was not a person's wish."""
        with self._store.database.read() as connection:
            descendants = runs.descendants(connection, run_id)
        for each in [run_id, *descendants]:
            self.sweeps.stop_starting(each)
        for each in [*descendants, run_id]:
            self._cancel(each, reason)
        with self._store.database.read() as connection:
            submitted_meanwhile = set(runs.descendants(connection, run_id)).difference(descendants)
        for each in submitted_meanwhile:
            self._cancel(each, reason)
        with self._store.database.read() as connection:
            return runs.get(connection, run_id)

    def _cancel(self, run_id: str, reason: str | None) -> None:
        before = self._queues.of_run(run_id)
        status = self._transitions.apply(run_id, Fact(states.CANCEL, reason=reason)).status
        # A run that has just been stored may have entered its queue, and even have started, since `before`.
        queue = before or self._queues.of_run(run_id)
        if queue is not None and status in (names.CANCEL_REQUESTED, names.CANCELED):
            self._stop(queue, run_id)

    def declare(self, run_id: str, outcome: str, error: dict[str, Any] | None) -> Run:
        """Somebody other than its reporter decides how a run ends. A running script is ended for it; the run's end
        follows when that is done and all that it wrote is stored."""
        queue = self._queues.of_run(run_id)
        with self._store.database.read() as connection:
            run = runs.get(connection, run_id)
        at_once = run.led or run.status in (names.NOT_STARTED, names.QUEUED)
        apply = self._transitions.end if at_once else self._transitions.apply
        run = apply(run_id, Fact(states.DECLARED, outcome=outcome, error=error))
        queue = queue or self._queues.of_run(run_id)
        if queue is not None and (run.ended or states.is_declared(run.error)):
            self._stop(queue, run_id)
        return run

    def preempt(self, run_id: str) -> Run:
        """End the attempt of a run that is under way; another one follows it."""
        run = self._transitions.apply(run_id, Fact(states.PREEMPT))
        queue = self._queues.of_run(run_id)
        if queue is None or run.ended or run.restart is None or run.status == names.CANCEL_REQUESTED:
            raise Conflict(
                "run_not_under_way",
                f"The run {run_id!r} cannot be preempted: it is {run.status}.",
                "That can be done to a submitted run once its target has taken it up, until its script has ended.",
                {"run": run_id, "status": run.status},
            )
        self._stop(queue, run_id)
        return run

    def forget(self, run_id: str) -> None:
        """A run was deleted, and what node runners have left of it goes too."""
        self._heartbeats.forget(run_id)
        self._gangs.forget(run_id)
        self.sweeps.forget(run_id)
        self._queues.leave(run_id)
        self._stranded.forget(run_id)

    def left(self) -> list[Run]:
        """The runs that have a folder here: those under way, and those of which something is not delivered yet."""
        with self._store.database.read() as connection:
            found = [runs.look_up(connection, run_id) for run_id in self._engines.folders.left()]
        return [run for run in found if run is not None]

    def seen(self, run: Run) -> Run:
        """A run as it is to be shown: the reason of one that waits is what it waits for at this moment."""
        queue = self._queues.of_run(run.id) if run.status == names.QUEUED else None
        why = queue.why(run.id) if queue is not None else None
        return run if why is None else replace(run, reason=why)

    def meet(self, run_id: str, attempt: int, address: str) -> None:
        """The leader of a gang has reported where the others meet it."""
        with self._store.database.write() as connection:
            attempts.meet(connection, run_id, attempt, address)

    def meeting(self, run_id: str, attempt: int) -> str | None:
        """Where the leader of a gang is to be met; None as long as it has not reported it."""
        with self._store.database.read() as connection:
            return attempts.meeting(connection, run_id, attempt)

    # Compute targets

    def status(self, workspace: str, target: Target) -> Status:
        queue = self._queues.of(workspace, target.name)
        return Status(counts=NOTHING) if queue is None else queue.status()

    def nodes(self, workspace: str, target: Target) -> list[Node]:
        """The nodes that a target has now. EngineError when its cluster cannot be asked."""
        queue = self._queues.of(workspace, target.name)
        return [] if queue is None else queue.nodes()

    def holders(self, workspace: str, name: str) -> list[str]:
        """The runs that are under way on a target, then those that wait for it."""
        queue = self._queues.of(workspace, name)
        return [] if queue is None else queue.runs()

    def most_nodes(self, workspace: str, target: Target) -> int | None:
        """How many nodes a run can ever have on a target; None when that cannot be known."""
        queue = self._queues.of(workspace, target.name)
        return None if queue is None else queue.most_nodes()

    def check(self, target: Target) -> None:
        """EngineError when nothing could ever run on such a target, EngineAway when its cluster does not answer."""
        self._engines.of(target).check(target)

    def target_changed(self, workspace: str, name: str) -> None:
        """A target was made, changed or removed."""
        queue = self._queues.changed(workspace, name)
        if queue is not None:
            queue.wake()

    def _expect_led(self, run: Run) -> None:
        """A run that is led by the process which made it, in which another run may be."""
        if run.beats:
            self._heartbeats.expect(run.id, family.origin(run))
        else:
            self._heartbeats.led(run.id, family.origin(run))

    def _unchanged_by_heartbeat(self, run_id: str) -> Run | None:
        """The run, if a heartbeat changes nothing of it: then there is nothing to write."""
        with self._store.database.read() as connection:
            run = runs.get(connection, run_id)
        if run.status == names.NOT_RESPONDING:
            return None
        if not (run.ended or run.between_attempts):
            self._heartbeats.expect(run_id)
        return run

    # What follows from a change

    def _follow_up(self, run: Run, change: StateChange) -> None:
        """A run has another state now."""
        if run.status == names.RUNNING:
            queue = self._queues.of_run(run.id)
            if queue is not None:
                queue.started(run.id)
        elif run.between_attempts:
            self._heartbeats.forget(run.id)
        elif run.ended:
            self._heartbeats.forget(run.id)
            self._gangs.forget(run.id)
            queue = self._queues.leave(run.id)
            if queue is not None:
                queue.wake()
            if not run.led:
                self._end_led_children(run)

    def _end_led_children(self, parent: Run) -> None:
        """Child runs that the script led, and did not end itself, end as it did: nobody else is left to lead them."""
        if not self._heartbeats.any_led:
            return
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
            self._expect_led(run)
            return None
        if run.kind == SWEEP:
            self.sweeps.take_up(run)
            return None
        queue = self._queues.enter(run)
        waits = run.status in (names.NOT_STARTED, names.QUEUED) and not run.between_attempts
        if queue is None or waits:
            return lambda: self._admission.enqueue(run)
        running = run.status not in (names.QUEUED, names.PROVISIONING, names.PREPARING, names.STARTING)
        queue.hold(run, running, placed=queue.ours or run.status != names.PROVISIONING)
        if run.status not in (names.QUEUED, names.PROVISIONING):
            self._heartbeats.expect(run.id)
        return lambda: queue.worker.post(lambda: self._gangs.watch(queue, run.id))

    def _take_up_left(self) -> None:
        """Deliver what is left here of runs that are over. On a cluster, one that was given up may be alive."""
        for run in self.left():
            if not run.ended:
                continue
            queue = self._queues.of(run.workspace, run.target)
            if queue is None or queue.ours:
                self._stranded.look(run.id)
            else:
                queue.worker.post(partial(self._gangs.watch, queue, run.id))

    def _stop(self, queue: TargetQueue, run_id: str) -> None:
        queue.worker.post(lambda: self._gangs.stop(queue, run_id))

    def _check_heartbeats(self) -> None:
        self._worker.post(self._check_heartbeats, "heartbeats", CHECK_EVERY)
        for run in self._heartbeats.check():
            queue = self._queues.of_run(run.id)
            if queue is not None and run.between_attempts:
                self._stop(queue, run.id)  # only silence suggests that its attempt is over


def _are_plain(facts: Sequence[Fact]) -> bool:
    """Whether facts have no other effect than that of their states."""
    return not any(fact.kind in (states.HEARTBEAT, states.ENDED) for fact in facts)
