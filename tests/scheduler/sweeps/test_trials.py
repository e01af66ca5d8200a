"""The best of a trial, and the best of trials: what users choose a model by."""

from __future__ import annotations

import math
from array import array

from runyard.scheduler.sweeps.trials import Trial, best_of


def trial(number: int, *values: float, maximizes: bool = True) -> Trial:
    return Trial(number, f"HD_{number}", {}, maximizes, array("d", values))


def test_the_best_is_that_of_the_goal_and_no_number_counts_for_none() -> None:
    values = (0.5, math.nan, 0.9, 0.7)
    assert (trial(0, *values).best, trial(0, *values, maximizes=False).best) == (0.9, 0.5)
    assert trial(0, *values).best_within(2) == 0.5
    assert (trial(0).best, trial(0, math.nan).best, trial(0, math.nan).intervals) == (None, None, 1)
    assert trial(0, 1.0, 2.0, math.nan, math.inf).average_within(4) == 1.5


def test_of_equal_ones_the_first_is_the_best() -> None:
    some = [trial(0), trial(1, 0.5), trial(2, 0.9), trial(3, 0.9)]
    assert best_of(some, maximizes=True) is some[2]
    assert best_of(some, maximizes=False) is some[1]
    assert best_of(some[:1], maximizes=True) is None


def test_what_it_logs_later_counts_at_its_own_interval() -> None:
    loss = trial(0, 3.0, maximizes=False)
    assert (loss.best, loss.average_within(1)) == (3.0, 3.0)
    loss.values.extend([math.nan, 1.0, 2.0])
    assert [loss.best_within(interval) for interval in (0, 1, 2, 3, 9)] == [None, 3.0, 3.0, 1.0, 1.0]
    assert [loss.average_within(interval) for interval in (0, 2, 3, 4)] == [None, 3.0, 2.0, 2.0]
