from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runyard.contracts.journal import pack_value, unpack_value
from runyard.store.metrics import chunks
from runyard.store.metrics.buckets import buckets

numbers = st.lists(st.floats() | st.integers(), min_size=1, max_size=80)


def cut(values: list[Any], sizes: list[int]) -> list[chunks.Chunk]:
    """The values as chunks of these sizes, the rest as one more."""
    found, start = [], 0
    for size in [*sizes, len(values)]:
        piece = values[start : start + size]
        if piece:
            times = [float(n) for n in range(start, start + len(piece))]
            steps = [n * 10 if n % 3 else None for n in range(start, start + len(piece))]
            chunk = chunks.pack([pack_value(value) for value in piece], times, steps)
            found.append(chunks.closed(chunk) if start % 2 else chunk)
        start += size
    return found


@given(numbers, st.lists(st.integers(1, 20)), st.integers(1, 30))
def test_buckets_hold_what_their_points_hold(values: list[Any], sizes: list[int], number: int) -> None:
    made = buckets(cut(values, sizes), len(values), number)
    assert len(made) == min(number, len(values))
    start = 0
    for bucket in made:
        points = values[start : start + bucket["count"]]
        ordered = [value for value in points if value == value]
        assert repr(bucket["first"]) == repr(pack_value(points[0]))
        assert repr(bucket["last"]) == repr(pack_value(points[-1]))
        assert unpack_value(bucket["min"]) == (min(ordered) if ordered else None)
        assert unpack_value(bucket["max"]) == (max(ordered) if ordered else None)
        last = start + len(points) - 1
        assert (bucket["time_first"], bucket["time_last"]) == (float(start), float(last))
        assert bucket["step_first"] == (start * 10 if start % 3 else None)
        assert bucket["step_last"] == (last * 10 if last % 3 else None)
        start = last + 1
    assert start == len(values)


def test_buckets_are_of_one_size_and_keep_a_spike() -> None:
    values = [0.0] * 1000
    values[437] = 99.0
    values[438] = math.nan
    made = buckets(cut(values, [512]), 1000, 10)
    assert [bucket["count"] for bucket in made] == [100] * 10
    assert [bucket["max"] for bucket in made] == [0.0] * 4 + [99.0] + [0.0] * 5


@given(numbers, st.lists(st.integers(1, 20)), st.integers(1, 30), st.data())
def test_a_part_of_a_series_has_the_buckets_that_it_would_have_by_itself(
    values: list[Any], sizes: list[int], number: int, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(values) - 1))
    until = data.draw(st.integers(first + 1, len(values)))
    made = buckets(cut(values, sizes), until - first, number, first)
    alone = buckets(cut(values[first:until], []), until - first, number)
    kept = ("first", "last", "count", "min", "max")
    assert [[repr(each[key]) for key in kept] for each in made] == [[repr(each[key]) for key in kept] for each in alone]
    assert (made[0]["time_first"], made[-1]["time_last"]) == (float(first), float(until - 1))
