"""Samples and splits: a row that is in both halves of a split, or in none, spoils what was measured."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runyard.sdk.tables.sampling import taken


@settings(deadline=None)
@given(st.integers(-(2**70), 2**70), st.integers(0, 2**40), st.integers(0, 300), st.floats(0, 1))
def test_halves_are_disjoint_and_complete_however_rows_are_cut(seed: int, begin: int, count: int, part: float) -> None:
    one = [bool(each) for each in taken(seed, begin, count, part, False)]
    other = [bool(each) for each in taken(seed, begin, count, part, True)]
    assert [a != b for a, b in zip(one, other, strict=True)] == [True] * count
    cut = count // 3
    first, second = taken(seed, begin, cut, part, False), taken(seed, begin + cut, count - cut, part, False)
    assert one == [bool(each) for each in (*first, *second)]


@pytest.mark.parametrize("seed", [0, 1, -5, 2**63, 12345])
def test_rows_are_the_same_without_numpy(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = [bool(each) for each in taken(seed, 7, 2000, 0.3, False)]
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert list(taken(seed, 7, 2000, 0.3, False)) == fast


def test_about_the_part_that_was_asked_for() -> None:
    assert 7_800 < sum(taken(1, 0, 10_000, 0.8, False)) < 8_200
    assert sum(taken(1, 0, 100, 0.0, False)) == 0
    assert sum(taken(1, 0, 100, 1.0, False)) == 100
    assert list(taken(1, 0, 100, 0.5, False)) != list(taken(2, 0, 100, 0.5, False))
