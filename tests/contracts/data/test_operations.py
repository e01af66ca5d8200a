"""Operations of expressions on the values of one row: null is in no comparison, and nothing raises."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest

from runyard.contracts.data.operations import OPERATIONS, is_true, kind_of


@pytest.mark.parametrize(
    ("operation", "of", "found"),
    [
        ("<", (1, 2.5), True),
        ("!=", (None, 1), False),
        ("==", (None, None), False),
        ("==", ("1", 1), False),
        ("!=", ("1", 1), False),
        ("==", (True, 1), True),
        ("<", (date(2020, 1, 1), datetime(2020, 1, 1, 1)), True),
        ("==", (datetime(2020, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), datetime(2020, 1, 1)), True),
        ("<", ([1], [2]), False),
        ("&", (True, None), False),
        ("|", (None, True), True),
        ("~", (None,), True),
        ("+", ("a", "b"), "ab"),
        ("+", ("a", 1), None),
        ("/", (1, 0), None),
        ("//", (-3, 2), -2.0),
        ("%", (-3, 2), 1.0),
        ("**", (10, 400), None),
        ("**", (-8, 0.5), None),
        ("length", ("äb",), 2),
        ("length", (None,), None),
        ("to_upper", (3,), None),
        ("index_of", ("abc", "c"), 2),
        ("index_of", ("abc", "x"), -1),
        ("substring", ("abcd", 1, 2), "bc"),
        ("substring", ("abcd", 1, None), "bcd"),
        ("substring", ("abcd", -1, 2), None),
        ("starts_with", ("abc", "ab"), True),
        ("contains", ("abc", None), None),
        ("is_null", (None,), True),
    ],
)
def test_operations(operation: str, of: tuple[Any, ...], found: Any) -> None:
    assert OPERATIONS[operation](*of) == found


def test_kinds() -> None:
    assert [kind_of(each) for each in (1, "a", date(2020, 1, 1), None)] == ["number", "text", "time", "other"]
    assert [is_true(each) for each in (True, 1, None)] == [True, False, False]
