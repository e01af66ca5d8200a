"""Bandit against curves worked out by hand."""

from __future__ import annotations

from array import array

import pytest

from runyard.scheduler.sweeps.policies.bandit import Bandit
from runyard.scheduler.sweeps.trials import Trial


def curve(number: int, maximizes: bool, *values: float) -> Trial:
    return Trial(number, f"t{number}", {}, maximizes, array("d", values))


@pytest.mark.parametrize(
    ("maximizes", "slack", "own", "other", "interval", "stopped"),
    [
        # The example: 0.93 / 1.1 = 0.845.
        (True, {"slack_factor": 0.1}, [0.1, 0.4, 0.6, 0.71], [0.2, 0.5, 0.8, 0.93], 4, True),
        (True, {"slack_factor": 0.1}, [0.1, 0.4, 0.6, 0.85], [0.2, 0.5, 0.8, 0.93], 4, False),
        # Azure's: 0.8 / 1.2 = 0.667, and 0.8 - 0.2 = 0.6.
        (True, {"slack_factor": 0.2}, [0.66], [0.8], 1, True),
        (True, {"slack_factor": 0.2}, [0.67], [0.8], 1, False),
        (True, {"slack_amount": 0.2}, [0.59], [0.8], 1, True),
        (True, {"slack_amount": 0.2}, [0.61], [0.8], 1, False),
        # Its best counts, not its last value; and at equal age, not the end of the other.
        (True, {"slack_factor": 0.1}, [0.9, 0.1], [0.9, 0.91], 2, False),
        (True, {"slack_factor": 0.1}, [0.5], [0.5, 0.99], 1, False),
        # Smaller is better: 0.5 * 1.2 = 0.6.
        (False, {"slack_factor": 0.2}, [0.61], [0.5], 1, True),
        (False, {"slack_factor": 0.2}, [0.59], [0.5], 1, False),
        (False, {"slack_amount": 0.2}, [0.71], [0.5], 1, True),
        # Negative metrics have slack on their worse side: -10 * 1.1 = -11, and -10 / 1.1 = -9.09.
        (True, {"slack_factor": 0.1}, [-10.5], [-10.0], 1, False),
        (True, {"slack_factor": 0.1}, [-11.5], [-10.0], 1, True),
        (False, {"slack_factor": 0.1}, [-9.5], [-10.0], 1, False),
        (False, {"slack_factor": 0.1}, [-9.0], [-10.0], 1, True),
        # No slack at all: an equal one goes on.
        (True, {"slack_factor": 0}, [0.8], [0.8], 1, False),
        (True, {"slack_factor": 0}, [0.79], [0.8], 1, True),
        # Nothing to compare.
        (True, {"slack_factor": 0.1}, [float("nan")], [0.8], 1, False),
        (True, {"slack_factor": 0.1}, [0.1], [], 1, False),
        (True, {"slack_factor": 0.1}, [0.1], [float("nan")], 1, False),
    ],
)
def test_the_table(
    maximizes: bool, slack: dict[str, float], own: list[float], other: list[float], interval: int, stopped: bool
) -> None:
    verdict = Bandit(dict(slack), maximizes).judge(
        curve(0, maximizes, *own), interval, [curve(1, maximizes, *other), curve(2, maximizes)]
    )
    assert (verdict is not None) == stopped, verdict


def test_the_decision_is_explained() -> None:
    verdict = Bandit({"slack_factor": 0.1}, True).judge(
        curve(0, True, 0.1, 0.2, 0.3, 0.71), 4, [curve(1, True, 0.1, 0.2, 0.3, 0.93)]
    )
    assert verdict == "stopped at interval 4: 0.71, the best has 0.93, allowed 0.845455"
