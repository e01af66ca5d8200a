"""Rows are sent where they were wanted, and every other wish is refused in words."""

from __future__ import annotations

import pytest

from runyard.compat.horovod.core.splits import splits_of


def test_as_many_to_each_or_what_was_wanted() -> None:
    assert splits_of((6, 2), None, 3) == (2, 2, 2)
    assert splits_of((0,), None, 3) == splits_of((), None, 3) == (0, 0, 0)
    assert splits_of((6,), [1, 0, 5], 3) == (1, 0, 5)


@pytest.mark.parametrize(
    ("rows", "wanted", "words"),
    [
        (7, None, "cannot be split evenly among 3"),
        (6, [3, 3], "each of 3 ranks"),
        (6, [3, 3, 1], "6 in all"),
        (6, [7, 0, -1], "not \\[7, 0, -1\\]"),
    ],
)
def test_what_does_not_add_up(rows: int, wanted: list[int] | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        splits_of((rows,), wanted, 3)
