"""One sweep from its first child to its end: places, budgets, verdicts, failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.scheduler.conftest import wait

from runyard.scheduler import states
from runyard.scheduler.states import Fact
from runyard.store.runs import runs

if TYPE_CHECKING:
    from tests.scheduler.sweeps.conftest import SweepYard

BANDIT = {"name": "Bandit", "properties": {"slack_factor": 0.1, "evaluation_interval": 2}}


def test_a_child_that_ends_is_replaced_until_the_budget_is_spent(yard: SweepYard) -> None:
    yard.sweep(runs=3)
    assert yard.started(2) == ["HD_1_0", "HD_1_1"]
    yard.log("HD_1_0", 0.5, 0.7)
    yard.end("HD_1_0")
    assert yard.started(2)[-1] == "HD_1_2"
    yard.log("HD_1_1", 0.9)
    yard.end("HD_1_1")
    yard.end("HD_1_2", "failed")
    parent = yard.reach("HD_1", "Completed", "Failed")
    assert parent.status == "Completed"
    assert parent.reason == "3 children, 0 stopped early, 1 failed; the best is HD_1_1 with acc 0.9"
    assert parent.properties["best_child_run_id"] == "HD_1_1"
    assert [each.best for each in yard.trials()] == [0.7, 0.9, None]
    with yard.store.database.read() as connection:
        _, launch = runs.definition_and_launch(connection, "HD_1_2")
    assert launch is not None
    assert launch["arguments"] == ["--fixed", "1", "--x", "2"]
    assert yard.run("HD_1_2").properties["of"] == "child"
    text = yard.log_text()
    assert "[API][INFO]Experiment created" in text
    assert "Id='HD_1_2'" in text
    assert "HD_1_2 is Failed: logged no 'acc' after 0 intervals" in text


def test_a_child_that_falls_behind_is_stopped_with_the_reason(yard: SweepYard) -> None:
    yard.sweep(runs=2, policy=BANDIT)
    yard.started(2)
    yard.log("HD_1_0", 0.5, 0.93)
    yard.log("HD_1_1", 0.4)
    assert yard.trials()[1].verdict is None
    yard.log("HD_1_1", 0.71)
    verdict = "stopped at interval 2: 0.71, the best has 0.93, allowed 0.845455"
    wait(lambda: yard.clusters["hpc"].stopped == ["HD_1_1"], "for the child to be stopped")
    assert yard.trials()[1].verdict == verdict
    yard.end("HD_1_1", "canceled")
    assert yard.reach("HD_1_1", "Canceled").reason == verdict
    assert yard.run("HD_1").status == "Running"
    yard.end("HD_1_0")
    assert "1 stopped early" in str(yard.reach("HD_1", "Completed").reason)
    assert f"HD_1_1 {verdict}" in yard.log_text()


def test_a_space_with_no_more_ends_the_sweep(yard: SweepYard) -> None:
    yard.sweep(sampling={"name": "GRID", "parameter_space": {"x": ["choice", [[1, 2]]]}}, runs=10, at_once=5)
    yard.started(2)
    yard.log("HD_1_0", 1.0)
    yard.end("HD_1_0")
    yard.end("HD_1_1")
    yard.reach("HD_1", "Completed")
    assert len(yard.children()) == 2
    assert "max_total_runs is 10, but the space holds 2" in yard.log_text()


def test_a_metric_that_never_came_is_named_with_those_that_did(yard: SweepYard) -> None:
    yard.sweep(runs=1, metric="accuracy")
    yard.started(1)
    yard.log("HD_1_0", 0.5)
    yard.end("HD_1_0")
    parent = yard.reach("HD_1", "Completed")
    assert "no child has logged a number as 'accuracy'" in str(parent.reason)
    assert "what they logged: acc" in str(parent.reason)
    assert parent.warnings[0]["code"] == "NoPrimaryMetric"


def test_when_the_first_ones_all_fail_no_more_are_started(yard: SweepYard) -> None:
    yard.sweep(runs=50, at_once=2)
    for number in range(3):
        yard.started(1)
        yard.placed(f"HD_1_{number}")
        yard.end(f"HD_1_{number}", "failed")
    wait(lambda: yard.clusters["hpc"].stopped, "for the rest to be stopped")
    for each in yard.under_way():
        yard.end(each, "canceled")
    parent = yard.reach("HD_1", "Failed")
    assert (parent.error or {})["code"] == "EveryChildFailed"
    assert "All of the first 3 children failed" in str(parent.reason)
    assert len(yard.children()) < 6


def test_a_sweep_that_was_given_up_and_extended_is_given_up_again(yard: SweepYard) -> None:
    """The children that were canceled with it are no sign that anything works."""
    yard.sweep(runs=4, at_once=2)
    for number in range(3):
        yard.placed(f"HD_1_{number}")
        yard.end(f"HD_1_{number}", "failed")
    for each in yard.under_way():
        yard.end(each, "canceled")
    yard.reach("HD_1", "Failed")
    before = len(yard.children())
    yard.scheduler.sweeps.extend("HD_1", 20)
    yard.placed(f"HD_1_{before}")
    yard.end(f"HD_1_{before}", "failed")
    for each in yard.under_way():
        yard.end(each, "canceled")
    parent = yard.reach("HD_1", "Failed")
    assert "All of the first 4 children failed" in str(parent.reason)
    assert len(yard.children()) < before + 4


def test_cancel_stops_the_children_and_starts_none_in_their_place(yard: SweepYard) -> None:
    yard.sweep(runs=20, at_once=3)
    yard.started(3)
    yard.scheduler.cancel("HD_1")
    assert yard.run("HD_1").status == "CancelRequested"
    for each in ("HD_1_0", "HD_1_1", "HD_1_2"):
        yard.end(each, "canceled")
    yard.reach("HD_1", "Canceled")
    assert len(yard.children()) == 3


def test_time_that_is_up(yard: SweepYard, monkeypatch: pytest.MonkeyPatch) -> None:
    from runyard.scheduler.sweeps.controller import Controller

    monkeypatch.setattr(Controller, "seconds_left", property(lambda self: 0.0 if is_up else 0.1))
    is_up: list[bool] = []
    yard.sweep(runs=20, at_once=1, minutes=5)
    yard.started(1)
    yard.log("HD_1_0", 0.5)
    is_up.append(True)
    wait(lambda: yard.clusters["hpc"].stopped, "for the child to be stopped")
    yard.end("HD_1_0", "canceled")
    parent = yard.reach("HD_1", "Completed")
    assert "max_duration_minutes (5)" in str(parent.reason)
    assert "max_duration_minutes" in str(yard.run("HD_1_0").reason)


def test_a_sampler_that_fails_ends_the_sweep_in_words(yard: SweepYard, monkeypatch: pytest.MonkeyPatch) -> None:
    from runyard.scheduler.sweeps.samplers.grid import Grid

    def broken(self: Grid, number: int, history: object) -> None:
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr(Grid, "sample", broken)
    yard.sweep()
    parent = yard.reach("HD_1", "Failed")
    assert parent.reason == "The sampler failed at child 0: ZeroDivisionError: by nought"
    assert yard.children() == []


def test_a_value_that_is_no_number_is_said_once_and_stops_nobody(yard: SweepYard) -> None:
    yard.sweep(runs=2, policy=BANDIT)
    yard.started(2)
    yard.log("HD_1_0", 0.5, 0.9)
    yard.log("HD_1_1", {"f": "nan"}, {"f": "nan"})
    yard.end("HD_1_1")
    yard.end("HD_1_0")
    yard.reach("HD_1", "Completed")
    assert yard.log_text().count("which cannot be compared") == 1
    assert yard.run("HD_1_1").status == "Completed"


def test_a_child_whose_nodes_were_taken_keeps_its_place(yard: SweepYard) -> None:
    """It is started again by itself; the sweep neither replaces it nor counts it twice."""
    yard.sweep(runs=2, at_once=1)
    yard.placed("HD_1_0")
    yard.log("HD_1_0", 0.3)
    yard.scheduler.report("HD_1_0", Fact(states.STARTED))
    yard.scheduler._gangs.gone("HD_1_0", "the spot node is gone", taken=True)
    wait(lambda: yard.run("HD_1_0").attempt == 2, "for the second attempt")
    assert yard.children() == ["HD_1_0"]
    yard.placed("HD_1_0")
    yard.log("HD_1_0", 0.6)
    yard.end("HD_1_0")
    yard.placed("HD_1_1")
    yard.end("HD_1_1")
    assert yard.reach("HD_1", "Completed").reason == (
        "2 children, 0 stopped early, 0 failed; the best is HD_1_0 with acc 0.6"
    )


def test_a_sampler_that_gives_nonsense_ends_the_sweep_in_words(
    yard: SweepYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    from runyard.scheduler.sweeps.samplers.grid import Grid

    monkeypatch.setattr(Grid, "sample", lambda self, number, history: ["no", "dict"] if number else {"x": 1})
    yard.sweep(runs=3, at_once=1)
    yard.placed("HD_1_0")
    yard.end("HD_1_0")
    parent = yard.reach("HD_1", "Failed")
    assert "The sampler failed at child 1: BadSweep: sample() must return a dict" in str(parent.reason)


def test_a_policy_that_gives_nonsense_stops_nobody(yard: SweepYard, monkeypatch: pytest.MonkeyPatch) -> None:
    from runyard.scheduler.sweeps.policies.bandit import Bandit

    monkeypatch.setattr(Bandit, "judge", lambda self, trial, interval, others: True)
    yard.sweep(runs=1, policy=BANDIT)
    yard.placed("HD_1_0")
    yard.log("HD_1_0", 0.1, 0.2)
    yard.end("HD_1_0")
    yard.reach("HD_1", "Completed")
    assert "The policy failed, and HD_1_0 goes on: BadSweep: judge() must return" in yard.log_text()
