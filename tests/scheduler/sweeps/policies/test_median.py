"""Median stopping against curves worked out by hand."""

from __future__ import annotations

from array import array

import pytest

from runyard.scheduler.sweeps.policies.median import MedianStopping
from runyard.scheduler.sweeps.trials import Trial


def curve(number: int, maximizes: bool, *values: float) -> Trial:
    return Trial(number, f"t{number}", {}, maximizes, array("d", values))


@pytest.mark.parametrize(
    ("maximizes", "own", "others", "interval", "stopped"),
    [
        # Averages over 3 intervals: 0.2 (own), 0.4, 0.6: the median is 0.4.
        (True, [0.1, 0.2, 0.3], [[0.3, 0.4, 0.5], [0.5, 0.6, 0.7]], 3, True),
        (True, [0.0, 0.1, 0.45], [[0.3, 0.4, 0.5], [0.5, 0.6, 0.7]], 3, False),
        # What others logged later does not count: averages at 1 are 0.3, 0.3 and 0.5.
        (True, [0.3], [[0.3, 9.0], [0.5, 9.0]], 1, False),
        # Those that have not come as far do not count.
        (True, [0.3, 0.3], [[0.9], [0.9]], 2, False),
        # Smaller is better: averages 0.8 (own), 0.5, 0.3: the median is 0.5.
        (False, [0.9, 0.7], [[0.6, 0.4], [0.4, 0.2]], 2, True),
        (False, [0.9, 0.4], [[0.6, 0.4], [0.4, 0.2]], 2, False),
        # Alone there is no median.
        (True, [0.1], [], 1, False),
        (True, [float("nan")], [[0.5], [0.6]], 1, False),
    ],
)
def test_the_table(maximizes: bool, own: list[float], others: list[list[float]], interval: int, stopped: bool) -> None:
    trials = [curve(number, maximizes, *values) for number, values in enumerate(others, 1)]
    verdict = MedianStopping({}, maximizes).judge(curve(0, maximizes, *own), interval, trials)
    assert (verdict is not None) == stopped, verdict


def test_the_decision_is_explained() -> None:
    others = [curve(1, True, 0.4), curve(2, True, 0.6)]
    verdict = MedianStopping({}, True).judge(curve(0, True, 0.2), 1, others)
    assert verdict == "stopped at interval 1: 0.2, the median of the averages of 3 runs is 0.4"
