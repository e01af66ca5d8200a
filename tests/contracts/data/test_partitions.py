"""Columns out of paths."""

from __future__ import annotations

from datetime import datetime

from runyard.contracts.data.partitions import partition_values


def test_values_of_a_path() -> None:
    format = "/{region}/{day:yyyy/MM/dd/HH}/{file}.csv"
    found = partition_values(format, "/data/north/2020/07/31/23/a.csv")
    assert found == {"region": "north", "day": datetime(2020, 7, 31, 23), "file": "a"}
    assert list(found) == ["region", "day", "file"]
    assert partition_values(None, "/x") == {}


def test_a_path_that_does_not_match_has_nulls() -> None:
    assert partition_values("/{a}/{d:yyyy}.csv", "/x/1.csv") == {"a": None, "d": None}
    assert partition_values("/{a}/{d:yyyyMM}.csv", "/x/202013.csv") == {"a": "x", "d": None}
