from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.contracts.journal import pack_value
from runyard.store.errors import Damaged
from runyard.store.metrics import chunks
from runyard.store.metrics.chunks import Chunk

floats = st.floats()
numbers = floats | st.integers()
anything = numbers | st.booleans() | st.none() | st.text(st.characters(exclude_categories=["Cs"]))
steps = st.none() | st.integers(-(2**63) + 1, 2**63 - 1)


def packed(values: list[Any], points: list[int | None] | None = None) -> Chunk:
    return chunks.pack(
        [pack_value(v) for v in values], [float(n) for n in range(len(values))], points or [None] * len(values)
    )


@given(st.lists(floats, min_size=1) | st.lists(numbers, min_size=1) | st.lists(anything, min_size=1))
def test_values_keep_their_type_and_every_bit(values: list[Any]) -> None:
    chunk = packed(values)
    assert repr(chunks.values_of(chunk)) == repr([pack_value(value) for value in values])
    assert chunk.count == len(values)


@given(st.lists(st.tuples(anything, steps), min_size=1) | st.lists(st.tuples(floats, steps), min_size=1))
def test_a_closed_chunk_holds_the_same_points(points: list[tuple[Any, int | None]]) -> None:
    chunk = packed([value for value, _ in points], [step for _, step in points])
    shut = chunks.closed(chunk)
    assert shut.is_closed
    assert shut.is_numeric == chunk.is_numeric
    for each in (shut, chunks.opened(shut)):
        assert repr(chunks.values_of(each)) == repr(chunks.values_of(chunk))
        assert chunks.steps_of(each) == chunks.steps_of(chunk)
        assert list(chunks.times_of(each)) == list(chunks.times_of(chunk))
    assert chunks.opened(chunk) is chunk
    assert chunks.closed(shut) is shut
    ends = chunks.ends_of(shut)
    if chunk.encoding == chunks.FLOATS:
        assert ends is not None
        assert repr(ends) == repr(chunks.ends_of(chunk))
        assert (ends.steps, ends.times) == ((points[0][1], points[-1][1]), (0.0, len(points) - 1.0))
    else:
        assert ends is None


def test_a_chunk_that_is_damaged_is_a_damaged_database() -> None:
    with pytest.raises(Damaged):
        chunks.values_of(replace(chunks.closed(packed([1.0, 2.0])), values=b"?"))


@given(st.lists(st.tuples(anything, steps), min_size=2), st.data())
def test_two_chunks_joined_are_one(points: list[tuple[Any, int | None]], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(points) - 1))
    values, all_steps = [value for value, _ in points], [step for _, step in points]
    first, second = packed(values[:cut], all_steps[:cut]), packed(values[cut:], all_steps[cut:])
    if first.encoding == second.encoding:
        joined = first.joined(second)
        assert repr(chunks.values_of(joined)) == repr([pack_value(value) for value in values])
        assert chunks.steps_of(joined) == all_steps
        assert [chunks.step_reader(joined)(at) for at in range(len(points))] == all_steps
        assert len(chunks.times_of(joined)) == joined.count == len(points)


@pytest.mark.parametrize(
    ("values", "encoding"),
    [
        ([1.0, 2.5], "d"),
        ([math.nan, math.inf, 1.0], "d"),
        ([1, 2], "n"),
        ([1, 2.5, math.nan], "n"),
        ([2**200], "n"),
        ([1.0, True], "j"),
        ([1.0, None], "j"),
        (["a"], "j"),
    ],
)
def test_the_encoding_follows_the_values(values: list[Any], encoding: str) -> None:
    assert packed(values).encoding == encoding


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0, -1.0, 3.0], (-1.0, 3.0)),
        ([math.nan, 2.0, math.nan, 1.0], (1.0, 2.0)),
        ([math.nan], (None, None)),
        ([math.inf, -math.inf, math.nan], (-math.inf, math.inf)),
        ([1e308, 1e308], (1e308, 1e308)),
    ],
)
def test_nan_is_neither_the_smallest_nor_the_largest(values: list[float], expected: tuple[Any, Any]) -> None:
    chunk = packed(values)
    assert (chunk.smallest, chunk.largest) == expected
    again = chunk.joined(packed([math.nan]))
    assert (again.smallest, again.largest) == expected


@pytest.mark.parametrize(
    ("values", "times", "points"),
    [
        ([[1]], [0.0], [None]),
        ([{"f": "never"}], [0.0], [None]),
        ([{"g": "nan"}], [0.0], [None]),
        ([{}], [0.0], [None]),
        ([1.0], ["now"], [None]),
        ([1.0], [True], [None]),
        ([1.0], [0.0], [1.5]),
        ([1.0], [0.0], [True]),
        ([1.0], [0.0], [2**63]),
    ],
)
def test_what_is_no_point_is_refused(values: list[Any], times: list[Any], points: list[Any]) -> None:
    with pytest.raises((TypeError, ValueError, KeyError, OverflowError)):
        chunks.pack(values, times, points)
