"""Filters on what there are few of mean the same as those on runs."""

from __future__ import annotations

import pytest

from runyard.store.errors import Refused
from runyard.store.mlflow import matching
from runyard.store.mlflow.language import Attributes
from runyard.store.mlflow.matching import Values

ATTRIBUTES = Attributes({"name": "name", "size": "size"}, frozenset({"size"}))
ROWS = [("ab", 1), ("aB", 2), ("b_", 3), ("cx", None)]


def values(row: tuple[str, int | None]) -> Values:
    return Values(
        {"name": row[0], "size": row[1]}, {"t": row[0]} if row[1] else {}, {"p": "1"}, {"m": float(row[1] or 0)}
    )


@pytest.mark.parametrize(
    ("filter", "order", "expected"),
    [
        ("", [], ["ab", "aB", "b_", "cx"]),
        ("name LIKE 'a%'", ["name ASC"], ["aB", "ab"]),
        ("name ILIKE '%B%'", ["size DESC"], ["b_", "aB", "ab"]),
        ("name LIKE 'b_'", [], ["b_"]),
        ("name LIKE '%'", ["size ASC"], ["ab", "aB", "b_", "cx"]),
        ("size >= 2 and metrics.m < 3", [], ["aB"]),
        ("tags.t IS NULL", [], ["cx"]),
        ("tags.t != 'ab' and params.p IS NOT NULL", [], ["aB", "b_"]),
        ("name NOT IN ('ab')", ["size DESC"], ["b_", "aB", "cx"]),
    ],
)
def test_what_is_found(filter: str, order: list[str], expected: list[str]) -> None:
    found, token = matching.page(ROWS, matching.parse(filter, order, ATTRIBUTES), values, 10, None)
    assert ([row[0] for row in found], token) == (expected, None)


def test_pages_and_long_patterns() -> None:
    wanted = matching.parse(None, None, ATTRIBUTES)
    first, token = matching.page(ROWS, wanted, values, 3, None)
    assert token == "3"
    rest, end = matching.page(ROWS, wanted, values, 3, token)
    assert [*first, *rest] == ROWS
    assert end is None
    with pytest.raises(Refused):
        matching.page(ROWS, wanted, values, 3, "x")
    slow = matching.parse(f"name LIKE '{'%a' * 4000}%b'", None, ATTRIBUTES)
    assert matching.page([("a" * 5000, 1)], slow, values, 3, None) == ([], None)
