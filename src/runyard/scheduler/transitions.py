"""The one place that changes a run's state: stores what `states.decide` decides, and informs the subscribers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone

from sqlalchemy import Connection

from runyard.contracts.secrets import mask, mask_all
from runyard.scheduler import states
from runyard.scheduler.states import Attempt, Fact
from runyard.store.content import files
from runyard.store.runs import attempts, runs
from runyard.store.runs.runs import Run, StateChange
from runyard.store.store import Store

Subscriber = Callable[[Run, StateChange], None]
"""Called with the run after a change, and the change."""


class Transitions:
    """`replaceable` answers whether the nodes of a run may be taken away at any time. Any thread may call."""

    def __init__(self, store: Store, replaceable: Callable[[Run], bool]) -> None:
        self._store = store
        self._replaceable = replaceable
        self._subscribers: list[Subscriber] = []

    def subscribe(self, subscriber: Subscriber) -> None:
        """Have every change passed on, in the thread that makes it, in the order of the subscriptions."""
        self._subscribers.append(subscriber)

    def apply(self, run_id: str, fact: Fact) -> Run:
        """The run as it is after a fact. The fact is stored for everybody to read: without credentials."""
        fact = _masked(fact)
        with self._store.database.write() as connection:
            before = runs.current(connection, run_id)
            run = before.run
            change = states.decide(run.status, run.error, run.led, fact, self._attempt(connection, run, fact))
            if change is None:
                return run
            now = max(datetime.now(timezone.utc), before.changed_at)
            happened_at = _happened(change.at, run, now)
            run = runs.change_state(
                connection, before, change.status, change.reason, now, change.error, fact.warnings, happened_at
            )
            if change.restart is not None:
                attempts.ask(connection, run_id, change.restart)
                run = replace(run, restart=change.restart)
        for subscriber in self._subscribers:
            subscriber(run, StateChange(run.status, now, change.reason))
        return run

    def end(self, run_id: str, fact: Fact) -> Run:
        """Apply an end. The logs are sealed before the state: whoever sees the run ended must find them complete."""
        files.seal(self._store, run_id)
        return self.apply(run_id, fact)

    def fail(self, run_id: str, code: str, message: str, kind: str = states.ENDED, final: bool = False) -> Run:
        error = {"code": code, "message": message}
        return self.end(run_id, Fact(kind, outcome="failed", error=error, reason=message, final=final))

    def _attempt(self, connection: Connection, run: Run, fact: Fact) -> Attempt:
        replaceable = not run.led and fact.kind in (states.ENDED, states.LOST) and self._replaceable(run)
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
