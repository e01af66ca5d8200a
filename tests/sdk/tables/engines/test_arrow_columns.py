"""Columns of pyarrow: turned as a whole or one by one, the values are the same."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runyard.sdk.tables.engines.arrow_columns import OF_JSON, TIME, as_texts, from_texts, joined, of_values
from runyard.sdk.tables.engines.plain import convert_texts

TYPES: list[dict[str, Any]] = [
    *({"type": each} for each in ("int", "float", "bool", "string")),
    {"type": "datetime", "formats": ["iso"]},
    {"type": "datetime", "formats": ["%m/%d/%Y"]},
    {"type": "datetime", "formats": ["iso", "%d-%b-%Y"]},
    {"type": "float", "decimal_mark": ","},
]
TEXTS = st.one_of(
    st.none(),
    st.sampled_from(
        [
            *("1", " 2", "+3", "007", "1.5", "1e3", "nan", "INF", "9" * 19, "9" * 30, "true", "No", "y", "x", "", "0"),
            *("2020-01-02", "2020-01-02 03:04", "2020-01-02T03:04:05Z", "2020-01-02 03:04:05.123456789", "1/2/2020"),
            *("0001-01-01", "9999-12-31", "2-Jan-2020", "2,5", "-0", "2020-01-02T03:04:05+01:00", "13/13/2020", "é"),
        ]
    ),
)


@settings(deadline=None, max_examples=80)
@given(st.lists(TEXTS, max_size=8), st.sampled_from(TYPES))
def test_both_engines_turn_texts_alike(texts: list[str | None], type: dict[str, Any]) -> None:
    column = pa.chunked_array([pa.array(texts[:3], pa.string()), pa.array(texts[3:], pa.string())])
    values, errors = from_texts(column, type, "c", None)
    expected, wrong = convert_texts(texts, type, "c", None)
    assert repr(values.to_pylist()) == repr(expected)
    assert (errors.to_pylist() if errors is not None else [None] * len(texts)) == wrong


def test_python_values() -> None:
    assert of_values("x", [1, 2.5, None])[1].to_pylist() == [1.0, 2.5, None]
    assert of_values("x", [datetime(2020, 1, 1)])[0].type == TIME
    for values in ([1, "a"], [{"a": 1}], [[1], None], [True, 2], [10**30], ["\ud800"]):
        assert of_values("x", values)[0].metadata == OF_JSON
    assert pa.types.is_null(of_values("x", [None])[0].type)


def test_other_columns_as_texts() -> None:
    assert as_texts(pa.array([True, None])).to_pylist() == ["True", None]
    assert as_texts(pa.array([1.5])).to_pylist() == ["1.5"]
    assert as_texts(pa.array([{"a": 1}])).to_pylist() == ['{"a": 1}']


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ([1], [2.5], [1.0, 2.5]),
        ([1], ["a"], ["1", '"a"']),
        ([None], [3], [None, 3]),
        ([True], [1], ["true", "1"]),
    ],
)
def test_batches_of_different_types_are_joined(one: list[Any], other: list[Any], found: list[Any]) -> None:
    table = joined([pa.table({"x": one}), pa.table({"x": other, "y": [0]})])
    assert table.column("x").to_pylist() == found
    assert table.column("y").to_pylist() == [None, 0]
