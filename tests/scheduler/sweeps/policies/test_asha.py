"""Asynchronous successive halving against curves worked out by hand."""

from __future__ import annotations

from array import array

import pytest

from runyard.scheduler.sweeps.policies.asha import Asha
from runyard.scheduler.sweeps.trials import Trial


def curve(number: int, *values: float) -> Trial:
    return Trial(number, f"t{number}", {}, True, array("d", values))


@pytest.mark.parametrize(
    ("own", "others", "stopped"),
    [
        (0.1, [], False),  # the first to come goes on
        (0.1, [0.2], False),  # of two, nobody can be the best third
        (0.1, [0.2, 0.3], True),  # of three, one goes on
        (0.4, [0.2, 0.3], False),
        (0.25, [0.2, 0.3, 0.1, 0.15, 0.05], False),  # of six, two
        (0.18, [0.2, 0.3, 0.1, 0.15, 0.05], True),
    ],
)
def test_the_table(own: float, others: list[float], stopped: bool) -> None:
    trials = [curve(number, value) for number, value in enumerate(others, 1)]
    verdict = Asha({"reduction_factor": 3}, True).judge(curve(0, own), 1, trials)
    assert (verdict is not None) == stopped, verdict


def test_rungs_and_words() -> None:
    asha = Asha({"min_intervals": 2, "reduction_factor": 2}, True)
    assert [interval for interval in range(1, 20) if asha.is_due(interval)] == [2, 4, 8, 16]
    verdict = asha.judge(curve(0, 0.1, 0.2), 2, [curve(1, 0.5, 0.6), curve(2, 0.9)])
    assert verdict == "stopped at interval 2: 0.2 is number 2 of 2 at this rung, and the best 1 go on"
