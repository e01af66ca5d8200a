from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runyard.contracts.journal import pack_value, unpack_value
from runyard.store.metrics import chunks, thinning
from runyard.store.metrics.buckets import buckets


def series(values: list[Any], start: float = 0.0) -> chunks.Chunk:
    count = len(values)
    return chunks.pack([pack_value(value) for value in values], [start + n for n in range(count)], list(range(count)))


@given(st.lists(st.floats() | st.integers(), min_size=1, max_size=60), st.integers(1, 70))
def test_what_is_left_are_the_buckets_that_there_were(values: list[Any], number: int) -> None:
    chunk = thinning.thinned([series(values)], len(values))
    assert (chunk.encoding, chunk.count) == (thinning.THINNED, len(values))
    left = thinning.buckets_of(chunk)
    assert repr(left) == repr(buckets([series(values)], len(values), thinning.KEPT))
    fewer = thinning.regrouped(left, number)
    assert len(fewer) == min(number, len(values))
    assert sum(each["count"] for each in fewer) == len(values)
    assert repr((fewer[0]["first"], fewer[-1]["last"])) == repr((pack_value(values[0]), pack_value(values[-1])))
    ordered = [value for value in values if value == value]
    lows = [unpack_value(each["min"]) for each in fewer if each["min"] is not None]
    assert min(lows, default=None) == min(ordered, default=None)
    assert (chunk.smallest, chunk.largest) == (min(ordered, default=None), max(ordered, default=None))


def test_a_long_series_becomes_short_and_keeps_its_spike() -> None:
    values = [n / 7 for n in range(100_000)]
    values[54_321] = 1e9
    chunk = thinning.thinned([chunks.closed(series(values))], len(values))
    assert len(chunk.values) < 50_000
    assert max(each["max"] for each in thinning.buckets_of(chunk)) == chunk.largest == 1e9


def test_buckets_of_ranks_are_in_the_order_of_time_and_late_points_are_one() -> None:
    late, early = series([1.0, 2.0], 100.0), thinning.thinned([series([5.0, 4.0])], 2)
    found = thinning.regrouped([*thinning.buckets_of(late), *thinning.buckets_of(early)], 10)
    assert [(each["first"], each["count"]) for each in found] == [(5.0, 1), (4.0, 1), (1.0, 2)]


def test_of_texts_and_tables_the_newest_stay() -> None:
    texts = [series([f"{n}" for n in range(start, start + 700)]) for start in (0, 700)]
    left = thinning.newest(texts)
    assert chunks.values_of(left) == [str(n) for n in range(400, 1400)]
    assert len(chunks.times_of(left)) == len(chunks.steps_of(left)) == left.count == 1000
    rows = chunks.pack_rows([{"a": list(range(900))}, {"b": list(range(900))}], 1800, [1.0] * 1800)
    assert chunks.rows_of(thinning.newest([rows]))[99:101] == [{"a": 899}, {"b": 0}]
