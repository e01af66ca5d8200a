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


def test_a_format_that_means_a_long_name_in_many_ways_takes_no_time() -> None:
    long = "/" + "a" * 200 + "/c"
    assert partition_values("*a" * 40 + "{x}b", long) == {"x": None}
    assert partition_values("/{a}a{b}a{c}a{d}a{e}a*", "/aaaaaaaaaa") == {**dict.fromkeys("bcde", "a"), "a": "a"}


def test_brackets_stars_and_where_it_begins() -> None:
    assert partition_values("{{x}}-{a}*.csv", "/d/{x}-north-1.csv") == {"a": "north-1"}
    assert partition_values("{a}/x.csv", "/d/e/x.csv") == {"a": "e"}
    assert partition_values("/{a}/x.csv", "/d/x.csv/more") == {"a": None}
