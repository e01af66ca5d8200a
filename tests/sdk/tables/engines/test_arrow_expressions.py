"""Conditions over columns of pyarrow are true for the same rows as conditions over values."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from runyard.sdk.tables.engines.arrow_expressions import condition
from runyard.sdk.tables.engines.plain import PlainEngine, Rows
from runyard.sdk.tables.expressions import RecordExpression, column

COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "i": (pa.int64(), [1, 2, None, -5, 0, 2**62]),
    "f": (pa.float64(), [0.5, None, 2.0, float("inf"), -1.5, 3.0]),
    "s": (pa.string(), ["a", None, "Ab", "", "x a", "ä"]),
    "b": (pa.bool_(), [True, None, False, True, False, None]),
    "t": (pa.timestamp("us"), [datetime(2020, 1, day) if day else None for day in (1, 0, 3, 4, 5, 6)]),
}
TABLE = pa.table({name: pa.array(values, type) for name, (type, values) in COLUMNS.items()})
ROWS = Rows({name: values for name, (_, values) in COLUMNS.items()}, 6)

leaves = st.one_of(
    st.sampled_from([*COLUMNS, "gone"]).map(column),
    st.sampled_from([0, 1, 2.5, "a", "", True, None]).map(lambda value: RecordExpression({"value": value})),
    st.just(RecordExpression({"time": "2020-01-03T00:00:00"})),
)


def grown(inner: Any) -> Any:
    two = st.tuples(
        inner, inner, st.sampled_from(["<", "<=", ">", ">=", "==", "!=", "&", "|", "+", "-", "*", "/", "%"])
    )
    one = st.tuples(inner, st.sampled_from(["~", "is_null", "to_lower", "to_upper", "length"]))
    text = st.tuples(inner, inner, st.sampled_from(["contains", "starts_with", "ends_with", "index_of"]))
    return st.one_of(two, text, one).map(lambda each: each[0]._with(each[-1], *each[1:-1]))


@settings(deadline=None, max_examples=100)
@given(st.recursive(leaves, grown, max_leaves=6))
def test_both_engines_find_the_same_rows(expression: RecordExpression) -> None:
    expected = PlainEngine().condition(ROWS, expression.document)
    assert condition(TABLE, expression.document).to_pylist() == expected


def test_other_types_of_parquet_can_be_compared() -> None:
    table = pa.table(
        {
            "d": pa.array([datetime(2020, 1, 1).date()]),
            "z": pa.array([datetime(2020, 1, 1)], pa.timestamp("ns", "Europe/Berlin")),
            "c": pa.array(["a"]).dictionary_encode(),
            "l": pa.array(["a"], pa.large_string()),
            "u": pa.array([3], pa.uint8()),
        }
    )
    for expression in (
        column("d") < datetime(2020, 1, 2),
        column("z") < datetime(2020, 1, 2),
        column("c") == "a",
        column("l").contains("a"),
        column("u") > 2,
    ):
        assert condition(table, expression.document).to_pylist() == [True], expression
