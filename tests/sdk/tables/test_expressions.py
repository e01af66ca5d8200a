"""Expressions are data that a definition keeps: what cannot be kept is refused where it is written."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from functools import reduce

import pytest

from runyard.sdk.tables.expressions import column, columns_of, columns_with_errors


def test_operators_become_documents() -> None:
    made = (column("a") > 1) & ~(column("b").contains("x") | column("c").is_null())
    assert made.document["op"] == "&"
    assert columns_of(made.document) == {"a", "b", "c"}
    assert repr(made) == "RecordExpression((('a' > 1) & ~('b'.contains('x') | 'c'.is_null())))"
    assert (1 + column("a")).document == {"op": "+", "of": [{"value": 1}, {"column": "a"}]}
    assert columns_with_errors((column("a").is_error() & (column("b") > 1)).document) == {"a"}


def test_times_become_utc_without_a_zone() -> None:
    east = timezone(timedelta(hours=2))
    assert (column("t") < datetime(2020, 1, 1, 1, tzinfo=east)).document["of"][1] == {"time": "2019-12-31T23:00:00"}
    assert (column("t") < date(2020, 1, 1)).document["of"][1] == {"time": "2020-01-01T00:00:00"}


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy

    assert (column("a") > numpy.int64(3)).document["of"][1] == {"value": 3}


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(TypeError, match="named by a text"):
        column(3)
    with pytest.raises(TypeError, match="compared with"):
        column("a").contains([1])
    with pytest.raises(ValueError, match="no expression"):
        column("a").contains(float("nan"))
    with pytest.raises(RuntimeError, match="not with `and`"):
        bool(column("a") > 1)
    deep = reduce(lambda inner, _: ~inner, range(98), column("a"))
    with pytest.raises(ValueError, match="nested at most"):
        _ = ~~deep
