"""Curves as small plots of one line, for terminals."""

from __future__ import annotations

import math
from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
GAP = "·"


def sparkline(values: Sequence[float], low: float, high: float) -> str:
    """A character for each value, between `low` and `high`; what is no finite number is a dot.

    >>> sparkline([0, 1, 2, 3], 0, 3), sparkline([1, 1], 1, 1), sparkline([0, float("nan"), 1], 0, 1)
    ('▁▃▆█', '▁▁', '▁·█')
    """
    span = high - low
    drawn = []
    for value in values:
        if not math.isfinite(value):
            drawn.append(GAP)
            continue
        share = (value - low) / span if span > 0 else 0.0
        drawn.append(BARS[min(len(BARS) - 1, max(0, round(share * (len(BARS) - 1))))])
    return "".join(drawn)
