"""Curves of several runs at once are the points that each run has by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runyard.store.errors import NotFound
from runyard.store.metrics import batches, curves, series, streaming
from runyard.store.runs import runs
from runyard.store.runs.records import Run
from runyard.store.store import Store

RUNS = ("r", "silent", "s")


@pytest.fixture
def filled(store: Store, make_run: Callable[..., Run]) -> Store:
    def add(run: str, *records: list[Any], rank: int | None = None) -> None:
        with store.database.write() as connection:
            series.add(connection, runs.serial_of(connection, run), batches.of(records), rank)

    for run in RUNS:
        make_run(run)
    for number in range(40):
        add("r", ["v", "loss", number / 7, 1e9 + number, number], ["v", f"m{number}", number, 1e9, None])
        add("s", ["v", "loss", -number / 7, 1e9 + number, None])
        add("s", ["t", "table", {"a": [number]}, 1e9 + number])
    for rank in (1, 0):
        add("s", *(["v", "ranks", n / 3, 1e9 + n * (rank + 1), n] for n in range(30)), rank=rank)
    return store


@pytest.mark.parametrize("large", [streaming.LARGE, 3])
@pytest.mark.parametrize("buckets", [7, 1000])
def test_they_are_those_of_each_run(filled: Store, monkeypatch: pytest.MonkeyPatch, large: int, buckets: int) -> None:
    monkeypatch.setattr(streaming, "LARGE", large)
    monkeypatch.setattr(series, "FEW", 3)
    names = ["ranks", "loss", "table", *(f"m{number}" for number in range(5)), "no such"]
    found = list(curves.curves(filled.database, RUNS, names, buckets, bands=True))
    expected = []
    for run in RUNS:
        with filled.database.read() as connection:
            for metric in series.read(connection, run, names, buckets):
                if metric["kind"] == "values":
                    expected.append((run, metric))
    assert [(each["run"], each["name"], each["count"]) for each in found] == [
        (run, metric["name"], metric["count"]) for run, metric in expected
    ]
    for curve, (_, metric) in zip(found, expected, strict=True):
        if "buckets" in metric:
            assert curve["low"] == [each["min"] for each in metric["buckets"]]
            assert curve["high"] == [each["max"] for each in metric["buckets"]]
            assert curve["values"] == [each["last"] for each in metric["buckets"]]
            assert curve["positions"][-1] == metric["count"] - 1  # type: ignore[index]
        else:
            assert [curve[key] for key in ("values", "steps", "times")] == [
                metric[key] for key in ("values", "steps", "times")
            ]


def test_a_run_that_is_not_there_is_named(filled: Store) -> None:
    with pytest.raises(NotFound, match="nosuch"):
        list(curves.curves(filled.database, ["r", "nosuch"], ["loss"], 10, bands=False))
