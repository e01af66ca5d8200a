"""Small pictures for notebooks: whatever the numbers are, they are pictures."""

from __future__ import annotations

import math
import re

import pytest
from tests.sdk.widgets.plain_html import assert_plain

from runyard.sdk.widgets import curves
from runyard.sdk.widgets.overview import Point


@pytest.mark.parametrize(
    "values", [[1.0, 1.0], [0.0, 1e308, -1e308], [5e-324, 0.0], [float(number) for number in range(500)]]
)
def test_every_point_is_within_the_picture(values: list[float]) -> None:
    drawn = [Point(float(number), value, value, value) for number, value in enumerate(values)]
    for picture in (curves.curve(drawn, "<b>"), curves.curve(drawn, "", from_zero=True)):
        assert_plain(picture)
        numbers = [float(each) for pair in re.findall(r"[-\d.]+,[-\d.]+", picture) for each in pair.split(",")]
        assert all(math.isfinite(each) and -0.1 <= each <= curves.WIDE for each in numbers)
    steps = curves.progress(list(enumerate(values)), True, "best")
    assert_plain(steps)
    assert steps.count("<circle") == len(values)


def test_the_best_so_far_never_gets_worse() -> None:
    picture = curves.progress([(0, 3.0), (1, 1.0), (2, 2.0)], maximizes=False, label="")
    heights = [float(pair.split(",")[1]) for pair in re.search(r'points="([^"]+)"', picture)[1].split()]  # type: ignore[index]
    assert heights == sorted(heights), "downwards is smaller, and the axis of a picture goes down"
