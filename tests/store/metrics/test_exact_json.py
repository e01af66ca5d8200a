from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runyard.store.metrics import exact_json

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20))
@example([2**64, -(2**63) - 1, 10**30, 1e30, -0.0, "1" * 40])
@example([0.0012345678901234567, 2**64])
@example([0.0012345678901234567, 0.0012345678901234567, "." + "1" * 40, 10**25])
def test_nothing_is_lost(value: object) -> None:
    read = exact_json.loads(exact_json.dumps(value))
    assert repr(read) == repr(value)


@given(st.integers())
def test_a_whole_number_of_any_size_is_read_as_one(number: int) -> None:
    assert exact_json.loads(json.dumps([number]).encode()) == [number]


def test_a_float_with_many_digits_is_left_to_the_quick_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Losses of single precision look like this; with the other parser each point of them costs four times as much."""
    monkeypatch.setattr(exact_json, "json", None)
    floats = [0.0012345678901234567, 0.05123456940054893, -0.00987654321012345678]
    assert exact_json.loads(exact_json.dumps(floats)) == floats


def test_half_a_surrogate_pair_becomes_a_mark() -> None:
    for text in (b'["a\\ud800b"]', b'["a\xed\xa0\x80b"]'):
        assert exact_json.loads(text) == ["a\ufffdb"]
    assert exact_json.loads(b'["\\ud83d\\ude00", 18446744073709551616]') == ["\U0001f600", 2**64]


@pytest.mark.parametrize("text", [b"", b"[", b"[NaN]", b"[Infinity]", b"{'a': 1}", b'["\xff"]', b"[1,]"])
def test_what_is_not_json_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"JSON|Expecting|decode|codec|property"):
        exact_json.loads(text)


def test_the_largest_numbers_are_written_out() -> None:
    assert exact_json.dumps([2**70, 0.1]) == b"[1180591620717411303424,0.1]"
