"""Truncation selection against curves worked out by hand."""

from __future__ import annotations

from array import array
from typing import Any

import pytest

from runyard.scheduler.sweeps.policies.truncation import TruncationSelection
from runyard.scheduler.sweeps.trials import Trial


def curve(number: int, *values: float, status: str | None = None, maximizes: bool = True) -> Trial:
    return Trial(number, f"t{number}", {}, maximizes, array("d", values), status)


@pytest.mark.parametrize(
    ("percentage", "own", "others", "stopped"),
    [
        # Of five, 20 % is one: the lowest.
        (20, 0.1, [0.2, 0.3, 0.4, 0.5], True),
        (20, 0.25, [0.2, 0.3, 0.4, 0.5], False),
        # 40 % is two.
        (40, 0.25, [0.2, 0.3, 0.4, 0.5], True),
        (40, 0.35, [0.2, 0.3, 0.4, 0.5], False),
        # Of four, 20 % is less than one.
        (20, 0.1, [0.2, 0.3, 0.4], False),
        # Equal ones share the lowest place.
        (20, 0.2, [0.2, 0.3, 0.4, 0.5], True),
        (50, 0.1, [], False),
    ],
)
def test_the_table(percentage: int, own: float, others: list[float], stopped: bool) -> None:
    for maximizes in (True, False):
        sign = 1 if maximizes else -1
        trials = [curve(number, sign * value, maximizes=maximizes) for number, value in enumerate(others, 1)]
        policy = TruncationSelection({"truncation_percentage": percentage}, maximizes)
        verdict = policy.judge(curve(0, sign * own, maximizes=maximizes), 1, trials)
        assert (verdict is not None) == stopped, verdict


def test_at_equal_age_and_without_the_finished_ones_where_that_is_asked_for() -> None:
    others = [curve(1, 0.9), curve(2, 0.5, 0.6, status="Completed"), curve(3, 0.5, 0.6, status="Completed")]
    given: dict[str, Any] = {"truncation_percentage": 40}
    own = curve(0, 0.1, 0.2)
    assert TruncationSelection(given, True).judge(own, 2, others) == (
        "stopped at interval 2: 0.2 is among the lowest 1 of 3 runs (40 %)"
    )
    assert TruncationSelection({**given, "exclude_finished_jobs": True}, True).judge(own, 2, others) is None
