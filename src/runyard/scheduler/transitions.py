"""The one place that changes a run's state: stores what `states.decide` decides, and informs the subscribers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import NamedTuple

from sqlalchemy import Connection

from runyard.contracts.secrets import mask, mask_all
from runyard.scheduler import states
from runyard.scheduler.states import Attempt, Fact
from runyard.store.content import files
from runyard.store.content.objects import Stored
from runyard.store.errors import NotFound
from runyard.store.runs import attempts, runs
from runyard.store.runs.records import SCRIPT
from runyard.store.runs.runs import Run, StateChange
from runyard.store.store import Store

Subscriber = Callable[[Run, StateChange], None]
"""Called with the run after a change, and the change."""


class _Step(NamedTuple):
    """A run after a fact, and what the fact has changed of its state."""

    run: Run
    change: StateChange | None


class Transitions:
    """`replaceable` answers whether the nodes of a run may be taken away at any time. Any thread may call."""

    def __init__(self, store: Store, replaceable: Callable[[Run], bool]) -> None:
        self._store = store
        self._replaceable = replaceable
        self._subscribers: list[Subscriber] = []

    def subscribe(self, subscriber: Subscriber) -> None:
        """Have every change passed on, in the thread that makes it, in the order of the subscriptions."""
        self._subscribers.append(subscriber)

    def apply(self, run_id: str, *facts: Fact) -> Run:
        """The run as it is after some facts, which are stored together."""
        with self._store.database.write() as connection:
            done = self._stored(connection, run_id, facts)
        return self._informed(done)

    def apply_to_many(self, facts: Mapping[str, Fact]) -> None:
        """One fact each for some runs, which are stored together. Runs that were deleted are left out."""
        done: list[_Step] = []
        with self._store.database.write() as connection:
            for run_id, fact in facts.items():
                try:
                    done += self._stored(connection, run_id, [fact])
                except NotFound:
                    continue
        if done:
            self._informed(done)

    def end(self, run_id: str, *facts: Fact) -> Run:
        """Apply facts of which the last is an end. The logs are sealed with it: whoever sees the run ended must find
        them complete."""
        done: list[_Step] = []

        def apply(connection: Connection) -> None:
            done[:] = self._stored(connection, run_id, facts)

        files.seal(self._store, run_id, then=apply)
        return self._informed(done)

    def end_with(self, logs: Mapping[str, Stored], run_id: str, *facts: Fact) -> Run:
        """The same with all logs of a run that has none yet. `files.Begun` when it has, or is at another attempt."""
        with self._store.database.write() as connection:
            done = self._stored(connection, run_id, facts)
            if facts[-1].attempt not in (None, done[-1].run.attempt):
                raise files.Begun("another attempt")
            files.keep(connection, run_id, logs)
        return self._informed(done)

    def fail(self, run_id: str, code: str, message: str, kind: str = states.ENDED, final: bool = False) -> Run:
        error = {"code": code, "message": message}
        return self.end(run_id, Fact(kind, outcome="failed", error=error, reason=message, final=final))

    def _stored(self, connection: Connection, run_id: str, facts: Sequence[Fact]) -> list[_Step]:
        """Store what some facts change. They are there for everybody to read: without credentials."""
        before = runs.current(connection, run_id)
        done = []
        for fact in map(_masked, facts):
            run = before.run
            change = states.decide(run.status, run.error, run.led, fact, self._attempt(connection, run, fact))
            if change is None:
                done.append(_Step(run, None))
                continue
            now = max(datetime.now(timezone.utc), before.changed_at)
            happened_at = _happened(change.at, run, now)
            reason = states.reason_of(change, run.status, run.reason)
            run = runs.changed(run, change.status, reason, now, change.error, fact.warnings, happened_at)
            if change.restart is not None:
                attempts.ask(connection, run_id, change.restart)
                run = replace(run, restart=change.restart)
            done.append(_Step(run, StateChange(run.status, now, run.reason)))
            before = replace(before, run=run, changed_at=now)
        states_of = [step.change for step in done if step.change is not None]
        if states_of:
            runs.store_changes(connection, before.serial, before.run, states_of)
        return done

    def _informed(self, done: Sequence[_Step]) -> Run:
        for run, change in done:
            if change is not None:
                for subscriber in self._subscribers:
                    subscriber(run, change)
        return done[-1].run

    def _attempt(self, connection: Connection, run: Run, fact: Fact) -> Attempt:
        replaceable = run.kind == SCRIPT and fact.kind in (states.ENDED, states.LOST) and self._replaceable(run)
        if run.restart is None and not replaceable:
            return Attempt(run.attempt)
        return Attempt(run.attempt, attempts.most(connection, run.id), run.restart, replaceable)


def _happened(reported: datetime | None, run: Run, now: datetime) -> datetime | None:
    """When the cause of a change happened. A clock that was put back, or a wrong one on a node, does not make a run
    start before it was made, nor end before it started: then the moment of the report counts."""
    return reported if reported is None or reported >= (run.started_at or run.created_at) else now


def _masked(fact: Fact) -> Fact:
    if fact.reason is None and fact.error is None and not fact.warnings:
        return fact
    return replace(
        fact,
        reason=None if fact.reason is None else mask(fact.reason),
        error=mask_all(fact.error),
        warnings=mask_all(fact.warnings),
    )
