"""Random sampling fills its space, and another seed gives other values."""

from __future__ import annotations

from collections import Counter

from runyard.contracts.sweeps.space import parse
from runyard.scheduler.sweeps.samplers.independent import Independent

SPACE = parse({"a": ["choice", [[1, 2, 3, 4]]], "b": ["loguniform", [-6, -1]]})


def test_options_come_about_equally_often_and_seeds_differ() -> None:
    drawn = [Independent(SPACE, {"seed": 1}, True).sample(number, []) or {} for number in range(800)]
    counts = Counter(each["a"] for each in drawn)
    assert all(140 < counts[option] < 260 for option in (1, 2, 3, 4))
    assert Independent(SPACE, {"seed": 2}, True).sample(0, []) != drawn[0]
