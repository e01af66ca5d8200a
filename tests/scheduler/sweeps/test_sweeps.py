"""Sweeps and the death of the server: no child is started twice, none is forgotten, no verdict is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from tests.scheduler.conftest import wait

from runyard.contracts.states import TERMINAL
from runyard.scheduler.sweeps.controller import Controller
from runyard.store.assets import sweeps
from runyard.store.errors import StoreError

if TYPE_CHECKING:
    from tests.scheduler.sweeps.conftest import SweepYard


def test_another_server_goes_on_with_what_is_stored(yard: SweepYard) -> None:
    yard.sweep(runs=6, at_once=2)
    for number in range(6):
        yard.started(1)
        yard.placed(f"HD_1_{number}")
        yard.restart()
        yard.log(f"HD_1_{number}", number / 10)
        if number % 2:  # it ends while no server is there to see it
            yard.restart(partial(yard.clusters["hpc"].alive.discard, f"HD_1_{number}"))
        yard.end(f"HD_1_{number}")
    parent = yard.reach("HD_1", "Completed")
    assert "the best is HD_1_5" in str(parent.reason)
    assert yard.children() == [f"HD_1_{number}" for number in range(6)]
    assert [each.parameters for each in yard.trials()] == [{"x": number} for number in range(6)]
    begun = [plans[0].run_id for plans in yard.clusters["hpc"].gangs]
    assert sorted(begun) == yard.children()


def test_what_was_decided_and_not_done_is_done_by_the_next_server(yard: SweepYard) -> None:
    yard.sweep(runs=2)
    yard.started(2)

    def decide() -> None:
        with yard.store.database.write() as connection:
            sweeps.set_verdict(connection, "HD_1", 1, "stopped at interval 1: because")

    yard.restart(decide)
    wait(lambda: "HD_1_1" in yard.clusters["hpc"].stopped, "for the child to be stopped")
    yard.end("HD_1_1", "canceled")
    assert yard.run("HD_1_1").reason == "stopped at interval 1: because"


def test_a_value_that_was_stored_and_not_judged_is_judged(yard: SweepYard) -> None:
    yard.sweep(runs=2, policy={"name": "Bandit", "properties": {"slack_amount": 0.1}})
    yard.started(2)
    yard.log("HD_1_0", 0.9)
    yard.scheduler.sweeps.close()  # the next value is stored, and nobody judges it
    yard.log("HD_1_1", 0.1)
    yard.restart()
    wait(lambda: "HD_1_1" in yard.clusters["hpc"].stopped, "for the child to be stopped")


def test_a_sweep_that_has_ended_goes_on_with_more(yard: SweepYard) -> None:
    yard.sweep(runs=1)
    yard.started(1)
    yard.log("HD_1_0", 0.5)
    yard.end("HD_1_0")
    yard.reach("HD_1", "Completed")
    yard.scheduler.sweeps.extend("HD_1", 2)
    assert yard.run("HD_1").status == "Running"
    yard.started(2)
    yard.scheduler.sweeps.extend("HD_1", 1)
    yard.log("HD_1_2", 0.8)
    for number in (1, 2, 3):
        yard.placed(f"HD_1_{number}")
        yard.end(f"HD_1_{number}")
    parent = yard.reach("HD_1", "Completed")
    assert "4 children" in str(parent.reason)
    assert parent.properties["best_child_run_id"] == "HD_1_2"


def test_runs_of_no_sweep_are_looked_at_and_left(yard: SweepYard) -> None:
    yard.sweep(runs=1)
    yard.started(1)
    other = yard.submit("hpc")
    yard.scheduler.sweeps.delivered(other, "w", 0, b"[]\n")
    yard.scheduler.sweeps.delivered("HD_1_99", "w", 0, b"[]\n")
    assert yard.scheduler.sweeps.trials("HD_1").keys() == {0}
    assert not yard.scheduler.sweeps.judges(other)
    yard.end("HD_1_0")
    yard.reach("HD_1", *TERMINAL)
    assert yard.scheduler.sweeps.trials("HD_1") == {}


def test_children_that_were_stored_and_not_submitted_are_started_once(yard: SweepYard) -> None:
    """The server is killed between the two."""
    hands = yard.scheduler.sweeps._hands
    object.__setattr__(hands, "submit", lambda run: None)
    yard.sweep(runs=3)
    wait(lambda: len(yard.children()) == 2, "for the children to be stored")
    assert not yard.clusters["hpc"].gangs
    yard.restart()
    assert yard.started(2) == ["HD_1_0", "HD_1_1"]
    yard.end("HD_1_0")
    yard.placed("HD_1_2")
    begun = [plans[0].run_id for plans in yard.clusters["hpc"].gangs]
    assert sorted(begun) == ["HD_1_0", "HD_1_1", "HD_1_2"]


def test_two_extensions_at_once_both_count(yard: SweepYard) -> None:
    yard.sweep(runs=1, at_once=8)
    yard.started(1)
    yard.end("HD_1_0")
    yard.reach("HD_1", *TERMINAL)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda more: yard.scheduler.sweeps.extend("HD_1", more), (1, 2, 1, 2)))
    for number in range(1, 7):
        yard.placed(f"HD_1_{number}")
        yard.end(f"HD_1_{number}")
    parent = yard.reach("HD_1", *TERMINAL)
    assert "7 children" in str(parent.reason)
    assert parent.tags["_aml_system_max_total_jobs"] == "7"


def test_a_place_is_filled_once_the_store_is_back(yard: SweepYard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.sweep(runs=2, at_once=1)
    yard.started(1)
    stored, away = sweeps.set_results, [True]

    def now_and_then(*given: Any) -> None:
        if away:
            away.pop()
            raise StoreError("database_away", "The database is away.", "Wait.")
        stored(*given)

    monkeypatch.setattr(sweeps, "set_results", now_and_then)
    yard.end("HD_1_0")
    yard.placed("HD_1_1")
    assert not away


def test_a_sweep_that_cannot_go_on_ends_in_words(yard: SweepYard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.sweep(runs=2, at_once=1)
    yard.started(1)
    monkeypatch.setattr(Controller, "_next_trials", lambda self: 1 // 0)
    yard.end("HD_1_0")
    parent = yard.reach("HD_1", "Failed")
    assert "cannot go on" in str(parent.reason)
    assert "ZeroDivisionError" in str(parent.reason)
