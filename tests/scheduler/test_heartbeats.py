"""A run that is alive must not be shown as lost, nor one that is dead as running."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from runyard.scheduler import heartbeats, states
from runyard.scheduler.heartbeats import Heartbeats
from runyard.scheduler.states import Fact
from runyard.scheduler.transitions import Transitions
from runyard.store.runs import runs
from runyard.store.runs.runs import NewRun, Run

if TYPE_CHECKING:
    from tests.scheduler.conftest import Yard


def test_a_led_run_is_heard_of_through_the_run_that_leads_it(yard: Yard) -> None:
    """What the processes of a run say of its children, they say with its token."""
    store = yard.store
    with store.database.write() as connection:
        runs.create(connection, NewRun("script", "local", "trial", status="Running"))
        runs.create(connection, NewRun("child", "local", "trial", status="Running", kind="child", parent_id="script"))
    beats = Heartbeats(Transitions(store, lambda run: False))
    beats.expect("script")
    beats.expect("child", leader="script")

    def status_after_silence_of(*silent: str) -> str:
        for run_id in silent:
            beats._last[run_id] = time.monotonic() - heartbeats.SILENT_AFTER - 1
        beats.check()
        with store.database.read() as connection:
            return runs.get(connection, "child").status

    assert status_after_silence_of("child") == "Running"
    assert status_after_silence_of("child", "script") == "NotResponding"


def test_silence_is_stored_once_until_the_run_is_heard_of_again(yard: Yard) -> None:
    """Thousands of silent runs must not cost a transaction each at every check."""
    store = yard.store
    with store.database.write() as connection:
        runs.create(connection, NewRun("script", "local", "trial", status="Running"))
    applied: list[str] = []

    class Counting(Transitions):
        def apply(self, run_id: str, *facts: Fact) -> Run:
            applied.extend(fact.kind for fact in facts)
            return super().apply(run_id, *facts)

    beats = Heartbeats(Counting(store, lambda run: False))
    beats.expect("script")
    for silences in (1, 2):
        beats._last["script"] = time.monotonic() - heartbeats.SILENT_AFTER - silences
        for _ in range(3):
            beats.check()
        assert applied == [states.SILENT] * silences


def test_a_run_that_was_told_to_come_later_is_not_silent_before(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among thousands a run is heard of every few minutes: it must not count as lost, nor stay unnoticed when its
    connection is."""
    store = yard.store
    with store.database.write() as connection:
        for name in ("patient", "cut", "short", "led"):
            runs.create(connection, NewRun(name, "local", "trial", status="Running"))
    beats, began = Heartbeats(Transitions(store, lambda run: False)), time.monotonic()
    for name in ("patient", "cut", "short"):
        beats.expect(name)
        beats.held(name, 42.0 if name == "short" else 120.0)
    beats.expect("led", leader="patient")
    beats.held("unknown", 120.0)
    beats.cut("unknown")

    def silent_after(seconds: float) -> set[str]:
        monkeypatch.setattr(time, "monotonic", lambda: began + seconds)
        beats.check()
        with store.database.read() as connection:
            return {
                name for name in ("patient", "cut", "short", "led") if runs.get(connection, name).status != "Running"
            }

    assert silent_after(50) == set()
    beats.cut("cut")
    assert silent_after(70) == {"short"}
    assert silent_after(115) == {"short", "cut"}
    assert silent_after(135) == {"short", "cut"}
    assert silent_after(140) == {"short", "cut", "patient", "led"}


def test_led_runs_are_known_until_they_end(yard: Yard) -> None:
    beats = Heartbeats(Transitions(yard.store, lambda run: False))
    beats.expect("script")
    assert not beats.any_led
    beats.expect("child", leader="script")
    assert beats.any_led
    beats.forget("child")
    assert not beats.any_led


def test_a_heartbeat_that_changes_nothing_writes_nothing(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of runs send them: each would take the one place there is for writing."""
    store = yard.store
    with store.database.write() as connection:
        runs.create(connection, NewRun("script", "local", "trial", status="Running", kind="interactive"))
    scheduler = yard.scheduler
    before = scheduler.live()
    with monkeypatch.context() as no_writes:
        no_writes.setattr(type(store.database), "write", lambda self: pytest.fail("it writes"))
        assert scheduler.report("script", Fact(states.HEARTBEAT)).status == "Running"
        scheduler.alive("script")
    assert scheduler.live() == before + 1
    scheduler.report("script", Fact(states.SILENT))
    assert scheduler.report("script", Fact(states.HEARTBEAT)).status == "Running"
    with store.database.read() as connection:
        assert [each.status for each in runs.states(connection, "script")] == ["Running", "NotResponding", "Running"]
    scheduler.report("script", Fact(states.ENDED, outcome="completed"))
    assert scheduler.report("script", Fact(states.HEARTBEAT)).status == "Completed"
    assert scheduler.live() == before
