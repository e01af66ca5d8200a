"""The engine without pyarrow: values, errors, and what pandas is given."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.tables.engines.plain import PlainEngine, Rows, as_text, convert_texts, worked_out
from runyard.sdk.tables.engines.settings import ReadFile
from runyard.sdk.tables.problem import TableProblem

ENGINE = PlainEngine()


def test_texts_that_do_not_fit() -> None:
    values, errors = convert_texts(["1", None, "x", ""], {"type": "int"}, "a", None)
    assert (values, errors) == ([1, None, None, None], [None, None, "x", None])
    with pytest.raises(TableProblem, match=r"f\.csv: 'x' in the column 'a' is no int"):
        convert_texts(["1", "x"], {"type": "int"}, "a", "f.csv")


def test_columns_that_are_not_there_are_null() -> None:
    expression = {"op": "is_null", "of": [{"column": "b"}]}
    assert worked_out({"a": [1, 2]}, 2, expression) == [True, True]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2], "int64"),
        ([1, None], "float64"),
        ([1, 2.5], "float64"),
        ([True, False], "bool"),
        ([True, None], "object"),
        ([None, None], "object"),
        ([datetime(2020, 1, 1), None], "datetime64[ns]"),
        ([{"a": 1}, None], "object"),
    ],
)
def test_dtypes(values: list[Any], dtype: str) -> None:
    assert ENGINE.frame(iter([Rows({"x": values}, len(values))]), "null")["x"].dtype == dtype


def test_batches_of_different_columns_are_joined() -> None:
    found = ENGINE.frame(iter([Rows({"a": [1]}, 1), Rows({"b": ["x"]}, 1)]), "null")
    assert found.astype(object).where(found.notna(), None).values.tolist() == [[1.0, None], [None, "x"]]
    assert list(ENGINE.frame(iter([Rows({"a": []}, 0)]), "null").columns) == []


def test_times_that_pandas_cannot_hold() -> None:
    rows = Rows({"t": [datetime(9999, 1, 1), datetime(2020, 1, 1)]}, 2)
    assert ENGINE.frame(iter([rows]), "null")["t"].isna().tolist() == [True, False]
    with pytest.raises(TableProblem, match=r"9999-01-01.*'t' is outside"):
        ENGINE.frame(iter([rows]), "error")


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TableProblem, match="pip install pyarrow"):
        ENGINE.parquet(ReadFile(Path("x"), "x"))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(TableProblem, match="pip install pandas pyarrow"):
        ENGINE.frame(iter([]), "null")
    assert as_text(datetime(2020, 1, 1)) == "2020-01-01T00:00:00"
