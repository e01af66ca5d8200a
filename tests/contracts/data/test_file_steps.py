"""Which files the steps of a dataset leave: the same ones each time, wherever a listing was interrupted."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from runyard.contracts.data.datasets import BadDefinition, parse
from runyard.contracts.data.file_steps import Seen, check_columns, chosen, worked_out
from runyard.sdk.tables.expressions import column

FILES = [f"/f{number:03}" for number in range(200)]


def steps(*steps: dict[str, Any]) -> list[str]:
    definition = parse({"kind": "file", "sources": [{"url": "http://h/a"}], "steps": list(steps)})
    return list(chosen(definition, FILES, lambda path: Seen(path, path)))


def test_steps_are_applied_in_their_order() -> None:
    take, skip = {"step": "take", "count": 3}, {"step": "skip", "count": 2}
    assert steps(take, skip) == FILES[2:3]
    assert steps(skip, take) == FILES[2:5]
    assert steps({"step": "take", "count": 0}) == []
    assert steps({"step": "skip", "count": 500}) == []


def test_a_sample_is_the_same_each_time_and_its_rest_is_the_rest() -> None:
    sample = {"step": "sample", "probability": 0.3, "seed": 7}
    assert steps(sample) == steps(sample)
    assert 30 < len(steps(sample)) < 90
    assert sorted([*steps(sample), *steps({**sample, "rest": True})]) == FILES
    assert steps(sample) != steps({**sample, "seed": 8})
    assert steps({**sample, "probability": 1}) == FILES
    assert steps({**sample, "probability": 0}) == []


SMALL = Seen("/a.csv", "/data/north/2020/07/31/a.csv", 5, "2020-08-01T10:00:00.000000Z")
LARGE = Seen("/b.parquet", "/data/south/2021/01/02/b.parquet", 5_000, "2021-01-03T00:00:00.000000Z")
FORMAT = "/{region}/{day:yyyy/MM/dd}/*"


@pytest.mark.parametrize(
    "expression",
    [
        column("file:Size") < 10,
        column("file:Extension") == ".csv",
        column("file:LastModifiedTime") < datetime(2020, 9, 1),
        column("Path").contains("north"),
        column("region") == "north",
        (column("day") < datetime(2021, 1, 1)) & column("file:CanSeek").is_null().__invert__(),
        ~(column("region") == "south") | (column("file:Size") > 10_000),
    ],
)
def test_a_filter_looks_at_the_path_and_the_facts(expression: Any) -> None:
    assert worked_out(expression.document, SMALL, FORMAT) is True
    assert worked_out(expression.document, LARGE, FORMAT) is not True
    step = {"step": "filter", "expression": expression.document}
    definition = parse(
        {"kind": "file", "sources": [{"url": "http://h/a"}], "steps": [step], "partition_format": FORMAT}
    )
    assert list(chosen(definition, [SMALL, LARGE], lambda each: each)) == [SMALL]


def test_what_is_not_known_is_null_and_what_does_not_exist_is_refused() -> None:
    unknown = Seen("/a", "/a")
    for name in ("file:Size", "file:LastModifiedTime", "region"):
        assert worked_out((column(name) != 3).document, unknown, FORMAT) is False
        assert worked_out(column(name).is_null().document, unknown, FORMAT) is True
    check_columns((column("region") == column("Path")).document, ["region"])
    for expression in (column("county") == "x", ~(column("file:CreationTime") == "x")):
        with pytest.raises(BadDefinition, match="Files have no"):
            check_columns(expression.document, ["region"])
