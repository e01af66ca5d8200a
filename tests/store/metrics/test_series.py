from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select

from runyard.contracts.journal import pack_value
from runyard.store import tables
from runyard.store.errors import NotFound
from runyard.store.metrics import batches, chunks, series
from runyard.store.runs import runs
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


@pytest.fixture
def add(store: Store, make_run: MakeRun) -> Callable[..., None]:
    make_run("r")

    def add(*records: list[Any]) -> None:
        with store.database.write() as connection:
            series.add(connection, runs.serial_of(connection, "r"), batches.of(records))

    return add


def read(store: Store, **asked: Any) -> list[dict[str, Any]]:
    with store.database.read() as connection:
        return series.read(connection, "r", **asked)


def number_of_chunks(store: Store) -> int:
    with store.database.read() as connection:
        return connection.scalar(select(func.count()).select_from(tables.chunks)) or 0


def test_every_shape_is_read_back(store: Store, add: Callable[..., None]) -> None:
    add(
        ["d", "loss", "how wrong"],
        ["v", "loss", 0.5, 10.0, 1],
        ["v", "loss", {"f": "nan"}, 11.0, 2],
        ["l", "list", [1, True, "x", None, 2**70], 12.0],
        ["t", "table", {"a": [1, 2], "b": ["x", {"f": "inf"}]}, 13.0],
        ["a", "plot", "azureml.v2.image", "plot_1.png", 14.0],
    )
    add(["a", "plot", "azureml.v2.image", "plot_2.png", 15.0])
    assert read(store) == [
        {
            "name": "loss",
            "kind": "values",
            "description": "how wrong",
            "count": 2,
            "values": [0.5, {"f": "nan"}],
            "steps": [1, 2],
            "times": [10.0, 11.0],
        },
        {
            "name": "list",
            "kind": "values",
            "description": None,
            "count": 5,
            "values": [1, True, "x", None, 2**70],
            "steps": None,
            "times": [12.0] * 5,
        },
        {
            "name": "table",
            "kind": "table",
            "description": None,
            "count": 2,
            "columns": {"a": [1, 2], "b": ["x", {"f": "inf"}]},
        },
        {
            "name": "plot",
            "kind": "file",
            "description": None,
            "count": 2,
            "type": "azureml.v2.image",
            "values": ["plot_1.png", "plot_2.png"],
        },
    ]
    assert [metric["name"] for metric in read(store, name="table")] == ["table"]
    assert read(store, name="none") == []


def test_types_survive_from_batch_to_batch(store: Store, add: Callable[..., None]) -> None:
    values: list[Any] = [1.0, 1, True, 1.0, 2**64, -0.0, math.inf, "1", None, 1e300, 7]
    for number, value in enumerate(values):
        add(["v", "x", pack_value(value), float(number), None])
    (metric,) = read(store)
    assert repr(metric["values"]) == repr([pack_value(value) for value in values])


def test_one_name_may_be_used_for_several_things(store: Store, add: Callable[..., None]) -> None:
    add(["v", "x", 1.0, 1.0, None], ["t", "x", {"a": [1]}, 1.0], ["a", "x", "image", "f", 1.0], ["d", "x", "all"])
    add(["a", "x", "table", "g", 1.0], ["v", "x", 2.0, 2.0, None])
    found = [(m["kind"], m.get("type"), m["count"], m["description"]) for m in read(store, name="x")]
    assert found == [
        ("values", None, 2, "all"),
        ("table", None, 1, "all"),
        ("file", "image", 1, "all"),
        ("file", "table", 1, "all"),
    ]


def test_rows_with_other_columns_stay_in_line(store: Store, add: Callable[..., None]) -> None:
    add(["t", "x", {"a": [1], "b": [2]}, 1.0], ["t", "x", {"a": [3], "c": [4]}, 1.0])
    add(["t", "x", {"b": [5]}, 1.0])
    (metric,) = read(store)
    assert metric["columns"] == {"a": [1, 3, None], "b": [2, None, 5], "c": [None, 4, None]}
    assert metric["count"] == 3


def test_points_that_trickle_in_share_chunks(store: Store, add: Callable[..., None]) -> None:
    total = chunks.SMALL + 68
    for number in range(0, total, 20):
        add(*(["v", "x", float(n), float(n), n if n > 30 else None] for n in range(number, number + 20)))
    (metric,) = read(store)
    assert metric["values"] == [float(n) for n in range(total)]
    assert metric["times"] == [float(n) for n in range(total)]
    assert metric["steps"] == [n if n > 30 else None for n in range(total)]
    assert number_of_chunks(store) == 2


def test_a_large_batch_is_one_chunk_per_series(store: Store, add: Callable[..., None]) -> None:
    for start in (0, 5000):
        add(*(["v", f"m{n % 3}", float(n), float(n), None] for n in range(start, start + 5000)))
    assert number_of_chunks(store) == 6
    assert [metric["count"] for metric in read(store)] == [3334, 3333, 3333]


def test_long_and_many_names_are_no_matter(store: Store, add: Callable[..., None]) -> None:
    names = [f"{n} " + "ü" * 4000 for n in range(3)] + [f"metric {n}" for n in range(700)] + ["nul \0"]
    for value in (1.0, 2.0):
        add(*(["v", name, value, 1.0, None] for name in names))
    found = read(store)
    assert [metric["name"] for metric in found] == [*names[:-1], "nul \ufffd"]
    assert all(metric["values"] == [1.0, 2.0] for metric in found)
    assert read(store, name="nul \0") == found[-1:]


def test_a_description_may_come_first_and_change(store: Store, add: Callable[..., None]) -> None:
    add(["d", "x", "old"])
    assert read(store) == []
    add(["d", "x", "new"], ["v", "x", 1.0, 1.0, None])
    assert read(store)[0]["description"] == "new"


def test_a_long_series_comes_in_buckets(store: Store, add: Callable[..., None]) -> None:
    add(*(["v", "long", float(n), float(n), n] for n in range(600)))
    add(*(["v", "long", n, float(n), n] for n in range(600, 1000)), ["l", "text", ["a"] * 50, 1.0])
    add(["v", "short", 1.0, 1.0, None])
    long, text, short = read(store, buckets=10)
    assert "values" not in long
    assert long["count"] == 1000
    assert [(b["min"], b["max"], b["step_first"], b["time_last"]) for b in long["buckets"][:2]] == [
        (0.0, 99.0, 0, 99.0),
        (100.0, 199.0, 100, 199.0),
    ]
    assert sum(b["count"] for b in long["buckets"]) == 1000
    assert (text["values"], text["count"], len(text["times"])) == (["a"] * 10, 50, 10)
    assert short["values"] == [1.0]
    assert "buckets" not in read(store, name="long", buckets=1000)[0]


def test_of_what_is_no_series_of_numbers_the_last_rows_come(store: Store, add: Callable[..., None]) -> None:
    for number in range(30):
        add(["t", "table", {"x": [number, -number]}, 1.0], ["a", "image", "azureml.v2.image", f"{number}.png", 1.0])
    table, image = read(store, buckets=3)
    assert (table["columns"], table["count"]) == ({"x": [-28, 29, -29]}, 60)
    assert (image["values"], image["type"]) == (["27.png", "28.png", "29.png"], "azureml.v2.image")


def test_the_first_so_many_metrics(store: Store, add: Callable[..., None]) -> None:
    add(*(["v", f"m{number}", number, 1.0, None] for number in range(10)))
    found = read(store, limit=3)
    assert [(metric["name"], metric["values"]) for metric in found] == [("m0", [0]), ("m1", [1]), ("m2", [2])]
    assert read(store, name="m7", limit=3)[0]["values"] == [7]


def test_a_run_that_is_not_there_is_told(store: Store) -> None:
    with store.database.write() as connection, pytest.raises(NotFound):
        series.read(connection, "nobody")
