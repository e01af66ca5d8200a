from __future__ import annotations

import math
import random
import struct
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.store.metrics import columns, exact_json

whole_numbers = st.integers(-(2**63), 2**63 - 1)


def plain(numbers: list[float]) -> bytes:
    return struct.pack(f"<{len(numbers)}d", *numbers)


def jitter(count: int) -> list[float]:
    """Times of a loop whose rounds take a second, more or less."""
    source, now, found = random.Random(7), 1_763_235_000.0, []
    for _ in range(count):
        now += source.gauss(1.0, 0.001)
        found.append(now)
    return found


@given(
    st.lists(whole_numbers, min_size=1)
    | st.builds(lambda first, step, n: [first + step * at for at in range(n)], *[st.integers(-9, 9)] * 2, st.just(40))
    | st.lists(st.integers(-300, 70_000), min_size=1)
)
def test_whole_numbers_come_back(numbers: list[int]) -> None:
    before = struct.pack(f"<{len(numbers)}q", *numbers)
    packed = columns.pack_whole(before)
    assert columns.unpack(packed, len(numbers)) == before
    assert columns.ends(packed) == (before[:8], before[-8:])
    assert len(packed) <= len(before) + 25
    number = columns.reader("q", packed, len(numbers))
    assert [number(at) for at in (*range(len(numbers)), 0)] == [*numbers, numbers[0]]


@given(
    st.lists(st.floats(), min_size=1)
    | st.lists(st.floats(width=32), min_size=1)
    | st.lists(st.decimals(-1000, 1000, places=4).map(float), min_size=1)
)
def test_floats_keep_every_bit(numbers: list[float]) -> None:
    before = plain(numbers)
    packed = columns.pack_floats(before)
    assert columns.unpack(packed, len(numbers)) == before
    assert columns.ends(packed) == (before[:8], before[-8:])


@given(st.lists(st.integers(), min_size=1) | st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_texts_come_back(items: list[object]) -> None:
    before = exact_json.dumps(items)
    assert exact_json.loads(columns.unpack(columns.pack_text(before), len(items))) == items


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, -0.0, 1e300, 5e-324, 2.0**60])
def test_one_float_that_is_no_decimal_spoils_nothing(number: float) -> None:
    before = plain([*[0.25] * 500, number, *[0.5] * 500])
    assert columns.unpack(columns.pack_floats(before), 1001) == before


def per_number(packed: bytes, count: int) -> float:
    return len(packed) / count


def test_what_is_regular_takes_next_to_nothing() -> None:
    count, source = 4096, random.Random(7)
    losses = [source.gauss(2.0, 0.1) for _ in range(count)]
    single = list(array("f", losses))
    assert len(columns.pack_whole(struct.pack(f"<{count}q", *range(count)))) == 17
    assert len(columns.pack_floats(plain([0.001] * count))) < 50
    assert per_number(columns.pack_whole(plain(jitter(count))), count) < 2
    assert per_number(columns.pack_floats(plain(losses)), count) < 6.8
    assert per_number(columns.pack_floats(plain(single)), count) < 3.5
    assert per_number(columns.pack_floats(plain([round(loss, 4) for loss in losses])), count) < 2.2
    assert per_number(columns.pack_text(exact_json.dumps(list(range(count)))), count) < 0.01


@pytest.mark.parametrize("damaged", [b"", b"?", b"i" + bytes(10), b"z?", b"f" + bytes(16) + b"\x08\x05", b"s"])
def test_damage_is_a_value_error(damaged: bytes) -> None:
    with pytest.raises(ValueError, match="column"):
        columns.unpack(damaged, 10)
