"""Small plots: the smallest value is the lowest bar, the largest the highest, and what is no number is a gap."""

from __future__ import annotations

import math

from runyard.cli.output.sparkline import BARS, GAP, sparkline


def test_the_ends_of_the_scale() -> None:
    drawn = sparkline([-5.0, math.inf, 5.0, math.nan], -5.0, 5.0)
    assert drawn == f"{BARS[0]}{GAP}{BARS[-1]}{GAP}"


def test_a_curve_that_does_not_change_is_flat() -> None:
    assert sparkline([2.0] * 3, 2.0, 2.0) == BARS[0] * 3
    assert sparkline([], 0.0, 0.0) == ""
