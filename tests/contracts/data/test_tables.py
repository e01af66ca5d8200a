"""Definitions of tables: what the server keeps must be readable later, by any machine."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import pytest

from runyard.contracts.data.datasets import BadDefinition, parse
from runyard.contracts.data.partitions import partition_values
from runyard.contracts.data.tables import partition_columns, partition_fault

DELIMITED: dict[str, Any] = {"format": "delimited", "separator": ",", "header": "same", "encoding": "utf8"}


def definition(**changed: Any) -> dict[str, Any]:
    return {"kind": "tabular", "sources": [{"url": "http://h/a.csv"}], "read": DELIMITED, **changed}


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"read": {**DELIMITED, "types": {"a": {"type": "datetime", "formats": ["iso"]}}, "inferred": None}},
        {"read": {"format": "parquet", "partition_format": "/{x}/{d:yyyy}/*.parquet"}},
        {"read": {"format": "json", "invalid_lines": "drop", "encoding": "latin1"}},
        {"steps": [{"step": "take", "count": 3}, {"step": "keep", "columns": ["a"]}]},
        {"steps": [{"step": "sample", "probability": 0.5, "seed": -1, "rest": True}]},
        {"steps": [{"step": "filter", "expression": {"op": "<", "of": [{"column": "a"}, {"value": 1}]}}]},
        {"timestamp": {"timestamp": "t", "partition": None}},
    ],
)
def test_definitions_of_tables_are_taken(changed: dict[str, Any]) -> None:
    found = parse(definition(**changed))
    assert (found.kind, found.steps) == ("tabular", ())


NESTED: dict[str, Any] = {"column": "a"}
for _ in range(200):
    NESTED = {"op": "~", "of": [NESTED]}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"read": None}, "how it is read"),
        ({"read": {"format": "excel"}}, "how it is read"),
        ({"read": {**DELIMITED, "separator": ";;"}}, "'separator'"),
        ({"read": {**DELIMITED, "separator": "\n"}}, "'separator'"),
        ({"read": {**DELIMITED, "encoding": "utf-8"}}, "'encoding'"),
        ({"read": {**DELIMITED, "encoding": ["utf8"]}}, "'encoding'"),
        ({"read": {**DELIMITED, "password": "x"}}, "no setting 'password'"),
        ({"read": {**DELIMITED, "types": {"a": {"type": "complex"}}}}, "'types'"),
        ({"read": {**DELIMITED, "types": {"a": {"type": []}}}}, "'types'"),
        ({"read": {**DELIMITED, "partition_format": "/x/"}}, "'partition_format'"),
        ({"read": {"format": "delimited"}}, "needs the setting"),
        ({"steps": "take"}, "a list"),
        ({"steps": [{"step": "exec"}]}, "'exec' is no step"),
        ({"steps": [{"step": ["take"]}]}, "is no step"),
        ({"steps": [{"step": "take", "count": True}]}, "whole number"),
        ({"steps": [{"step": "sample", "probability": 2, "seed": 1}]}, "from 0 to 1"),
        ({"steps": [{"step": "sample", "probability": float("nan"), "seed": 1}]}, "from 0 to 1"),
        ({"steps": [{"step": "keep", "columns": "a"}]}, "names of columns"),
        ({"steps": [{"step": "filter"}]}, "has an expression"),
        ({"steps": [{"step": "filter", "expression": {"op": "exec", "of": []}}]}, "no operation"),
        ({"steps": [{"step": "filter", "expression": {"value": float("inf")}}]}, "no expression"),
        ({"steps": [{"step": "filter", "expression": {"time": "yesterday"}}]}, "no expression"),
        ({"steps": [{"step": "filter", "expression": NESTED}]}, "nested at most"),
        ({"timestamp": {"timestamp": 1}}, "names columns"),
        ({"timestamp": ["t"]}, "timestamp of a dataset has"),
    ],
)
def test_what_is_no_table_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(BadDefinition, match=re.escape(said)):
        parse(definition(**changed))


def test_an_expression_of_too_many_parts_is_refused() -> None:
    wide: dict[str, Any] = {"column": "a"}
    for _ in range(12):
        wide = {"op": "&", "of": [wide, wide]}
    with pytest.raises(BadDefinition, match="1,000 parts"):
        parse(definition(steps=[{"step": "filter", "expression": wide}]))


@pytest.mark.parametrize(
    ("format", "said"),
    [
        ("/{a}/{b}.csv", ""),
        ("{{x}}/{a}", ""),
        ("/x/*.csv", "names no column"),
        ("/{}/", "no name"),
        ("/{:yyyy}/", "no name"),
        ("/{a}/{a}", "the same name"),
        ("/{a:MM}/", "no year"),
        ("/{a:x}/", "no format"),
        ("/{a:yyyy}/{b:yyyy}", "only one"),
        ("/{a/", "not closed"),
        ("/a}/", "not closed"),
    ],
)
def test_faults_of_partition_formats(format: str, said: str) -> None:
    fault = partition_fault(format)
    assert said in fault
    assert bool(fault) == bool(said)


def test_partition_formats_find_their_columns() -> None:
    format = "/{{x}}-{region}/{day:yyyy-MM}/*.csv"
    assert partition_columns(format) == [("region", None), ("day", "yyyy-MM")]
    found = partition_values(format, "/data/{x}-north.1/2020-07/deep.csv")
    assert found == {"region": "north.1", "day": datetime(2020, 7, 1)}
    assert partition_values(format, "/data/{x}-north/2020-07/deep/er.csv") == {"region": None, "day": None}
    assert "more than 100" in partition_fault("/".join(f"{{c{number}}}" for number in range(101)))
