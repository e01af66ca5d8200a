"""If these fail, a curve of a distributed run mixes its ranks up, or loses some of their points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.store.metrics import batches, chunks, series
from runyard.store.metrics.batches import SeriesName
from runyard.store.metrics.merging import merged
from runyard.store.runs import runs
from runyard.store.runs.records import Run
from runyard.store.store import Store

Add = Callable[..., None]


@pytest.fixture
def add(store: Store, make_run: Callable[..., Run]) -> Add:
    make_run("r")

    def add(rank: int | None, *records: list[Any]) -> None:
        with store.database.write() as connection:
            series.add(connection, runs.serial_of(connection, "r"), batches.of(records), rank)

    return add


def read(store: Store, **asked: Any) -> list[dict[str, Any]]:
    with store.database.read() as connection:
        return series.read(connection, "r", **asked)


def test_ranks_are_one_series_in_the_order_of_time_or_one_each(store: Store, add: Add) -> None:
    add(1, ["v", "loss", 1.1, 11.0, 0], ["v", "loss", 1.2, 12.0, 1], ["v", "only", 5, 12.5, None])
    add(0, ["v", "loss", 0.1, 10.0, 0], ["v", "loss", 0.2, 11.5, 1])
    add(None, ["v", "loss", 9.0, 11.2, None])
    add(1, ["v", "loss", 1.3, 13.0, 2])

    loss, only = read(store)
    assert (loss["count"], loss["ranks"]) == (6, [0, 1])
    assert loss["values"] == [0.1, 1.1, 9.0, 0.2, 1.2, 1.3]
    assert loss["steps"] == [0, 0, None, 1, 1, 2]
    assert loss["times"] == [10.0, 11.0, 11.2, 11.5, 12.0, 13.0]
    assert (only["values"], only["ranks"]) == ([5], [1])

    apart = read(store, name="loss", by_rank=True)
    assert [(each.get("ranks"), each["values"]) for each in apart] == [
        ([1], [1.1, 1.2, 1.3]),
        ([0], [0.1, 0.2]),
        (None, [9.0]),
    ]


def test_a_limit_counts_metrics_and_not_ranks(store: Store, add: Add) -> None:
    for rank in range(3):
        add(rank, *(["v", name, rank, 10.0 + rank, None] for name in ("a", "b", "c")))
    assert [(each["name"], each["values"]) for each in read(store, limit=2)] == [("a", [0, 1, 2]), ("b", [0, 1, 2])]


def test_tables_and_files_of_ranks_are_merged_too(store: Store, add: Add) -> None:
    add(0, ["t", "rows", {"a": [1, 2]}, 10.0], ["a", "plot", "azureml.v2.image", "p0.png", 10.0])
    add(1, ["t", "rows", {"a": [3], "b": ["x"]}, 9.0], ["a", "plot", "azureml.v2.image", "p1.png", 11.0])
    rows, plot = read(store)
    assert rows["columns"] == {"a": [3, 1, 2], "b": ["x", None, None]}
    assert plot["values"] == ["p0.png", "p1.png"]


def test_thinned_series_of_ranks_keep_every_extreme(store: Store, add: Add) -> None:
    for rank in range(3):
        add(rank, *(["v", "loss", float(rank * 1000 + at), at + rank / 10, at] for at in range(100)))
    (loss,) = read(store, buckets=10)
    assert sum(bucket["count"] for bucket in loss["buckets"]) == loss["count"] == 300
    assert min(bucket["min"] for bucket in loss["buckets"]) == 0.0
    assert max(bucket["max"] for bucket in loss["buckets"]) == 2099.0
    assert loss["buckets"][-1]["last"] == 2099.0
    assert [each["buckets"][-1]["last"] for each in read(store, buckets=1, by_rank=True)] == [99.0, 1099.0, 2099.0]


numbers = st.one_of(st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=3))
points = st.lists(st.tuples(numbers, st.floats(0, 100), st.one_of(st.none(), st.integers(0, 9))), min_size=1)


@given(st.lists(points, min_size=1, max_size=4))
def test_no_point_is_lost_and_no_rank_loses_its_order(ranks: list[list[tuple[Any, float, int | None]]]) -> None:
    """Also where clocks were set back."""
    packed = [
        batches.of([["v", "m", value, time, step] for value, time, step in each]).series[SeriesName("m", "values")]
        for each in ranks
    ]
    found = merged([[chunk] for chunk in packed])
    together = [
        (value, time, step)
        for chunk in found
        for value, time, step in zip(
            chunks.values_of(chunk), chunks.times_of(chunk), chunks.steps_of(chunk), strict=True
        )
    ]
    assert len(together) == sum(map(len, ranks))
    for each in ranks:
        rest = iter(together)
        assert all(any(point == seen for seen in rest) for point in each)
