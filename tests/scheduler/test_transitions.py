"""If these fail, a clock that was put back makes runs that end before they started."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from runyard.scheduler import states
from runyard.scheduler import transitions as module
from runyard.scheduler.states import Fact
from runyard.scheduler.transitions import Transitions
from runyard.store.runs import runs, workspaces
from runyard.store.runs.runs import SCRIPT, NewRun, Run, StateChange
from runyard.store.store import Store

HOUR = timedelta(hours=1)


class Clock:
    """The clock of the machine, which a test puts back."""

    behind = timedelta()

    @classmethod
    def now(cls, tz: timezone) -> datetime:
        return datetime.now(tz) - cls.behind


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Clock]:
    monkeypatch.setattr(module, "datetime", Clock)
    monkeypatch.setattr(Clock, "behind", timedelta())
    return Clock


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    store = Store.open(home)
    yield store
    store.close()


@pytest.fixture
def changes() -> list[StateChange]:
    return []


@pytest.fixture
def transitions(store: Store, changes: list[StateChange]) -> Transitions:
    transitions = Transitions(store, lambda run: False)
    transitions.subscribe(lambda run, change: changes.append(change))
    return transitions


@pytest.fixture
def run(store: Store) -> Run:
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
        return runs.create(connection, NewRun("run-1", "local", "e", kind=SCRIPT))


def history(store: Store) -> list[datetime]:
    with store.database.read() as connection:
        return [change.at for change in runs.states(connection, "run-1")]


@pytest.mark.parametrize("when", range(5))
def test_no_state_comes_before_the_one_that_it_follows(
    store: Store, transitions: Transitions, run: Run, clock: type[Clock], changes: list[StateChange], when: int
) -> None:
    kinds = (states.QUEUE, states.PLACED, states.STARTED, states.FINALIZING, states.ENDED)
    for step, kind in enumerate(kinds):
        if step == when:
            clock.behind = HOUR
        at = clock.now(timezone.utc) if kind in (states.STARTED, states.ENDED) else None
        run = transitions.apply("run-1", Fact(kind, outcome="completed" if kind == states.ENDED else None, at=at))
    assert run.started_at is not None
    assert run.ended_at is not None
    assert run.created_at <= run.started_at <= run.ended_at
    times = history(store)
    assert times == sorted(times)
    assert [change.at for change in changes] == times[1:]


def test_a_node_whose_clock_is_behind_does_not_make_a_run_longer(
    store: Store, transitions: Transitions, run: Run
) -> None:
    before = datetime.now(timezone.utc)
    started = transitions.apply("run-1", Fact(states.STARTED, at=before - HOUR))
    ended = transitions.apply("run-1", Fact(states.ENDED, outcome="completed", at=before - HOUR + timedelta(seconds=1)))
    assert started.started_at is not None
    assert ended.ended_at is not None
    assert before <= started.started_at <= ended.ended_at <= datetime.now(timezone.utc)


def test_what_is_told_late_keeps_its_time(store: Store, transitions: Transitions, run: Run) -> None:
    transitions.apply("run-1", Fact(states.STARTED))
    at = datetime.now(timezone.utc)
    assert transitions.apply("run-1", Fact(states.SILENT)).status == "NotResponding"
    assert transitions.apply("run-1", Fact(states.ENDED, outcome="completed", at=at)).ended_at == at


def test_facts_that_come_together_are_all_in_the_history(
    store: Store, transitions: Transitions, changes: list[StateChange], run: Run
) -> None:
    after = transitions.apply(run.id, Fact(states.STARTED), Fact(states.STARTED), Fact(states.FINALIZING))
    assert after.status == "Finalizing"
    assert after.started_at is not None
    with store.database.read() as connection:
        history = [change.status for change in runs.states(connection, run.id)]
        assert runs.get(connection, run.id) == after
    assert history[-2:] == ["Running", "Finalizing"]
    assert [change.status for change in changes] == ["Running", "Finalizing"]


def test_facts_that_come_with_an_end_are_all_in_the_history(
    store: Store, transitions: Transitions, changes: list[StateChange], run: Run
) -> None:
    after = transitions.end(
        run.id, Fact(states.STARTED), Fact(states.FINALIZING), Fact(states.ENDED, outcome="completed")
    )
    assert (after.status, after.ended) == ("Completed", True)
    assert after.started_at is not None
    assert [change.status for change in changes] == ["Running", "Finalizing", "Completed"]
    with store.database.read() as connection:
        assert runs.get(connection, run.id) == after


def test_one_run_that_was_deleted_does_not_keep_others_from_their_state(
    store: Store, transitions: Transitions, changes: list[StateChange], run: Run
) -> None:
    """Else runs that wait would not show what for, because of one that somebody has deleted meanwhile."""
    waits = Fact(states.QUEUE, reason="waits for a node")
    transitions.apply_to_many({"gone": waits, run.id: waits})
    with store.database.read() as connection:
        assert (found := runs.get(connection, run.id)).status == "Queued"
        assert found.reason == "waits for a node"
    assert [change.status for change in changes] == ["Queued"]
    transitions.apply_to_many({"gone": waits})
    assert len(changes) == 1
