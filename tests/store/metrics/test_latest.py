"""What is observed of runs is stored apart: nobody who asks for a run's metrics may find it among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runyard.contracts.journal import EVENTS, SYSTEM, line, node_writer
from runyard.contracts.observed import load
from runyard.store.errors import Refused
from runyard.store.metrics import journals, latest, series, staging

if TYPE_CHECKING:
    from collections.abc import Callable

    from runyard.store.runs.records import Run
    from runyard.store.store import Store

SAMPLES = line("o", SYSTEM, 10.0, None, {load.CPU: 1.5, load.MEMORY: 100}) + line(
    "o", SYSTEM, 11.0, None, {load.CPU: 2}
)


def take(store: Store, writer: str, data: bytes) -> None:
    journals.take(store.database, "r", writer, 0, data)


def read(store: Store, source: str = "", **more: object) -> list[tuple[str, list[object]]]:
    with store.database.read() as connection:
        found = series.read(connection, "r", source=source, **more)  # type: ignore[arg-type]
        return [(each["name"], each["values"]) for each in found]


@pytest.fixture
def store_with_run(store: Store, make_run: Callable[..., Run]) -> Store:
    make_run("r")
    return store


@pytest.fixture
def filled(store_with_run: Store) -> Store:
    store = store_with_run
    take(store, "1-a", line("v", load.CPU, 0.25, 1.0, 0))
    take(store, node_writer(0, "system-1"), SAMPLES)
    take(store, node_writer(3, "system-1"), line("o", SYSTEM, 12.0, None, {load.CPU: 8}))
    take(store, "events-1", line("o", EVENTS, 13.0, 7, {"train/loss": {"f": "nan"}}))
    return store


def test_each_source_has_series_of_its_own(filled: Store) -> None:
    assert read(filled) == [(load.CPU, [0.25])]
    assert read(filled, limit=5) == [(load.CPU, [0.25])]
    assert read(filled, SYSTEM) == [(load.CPU, [1.5, 2, 8]), (load.MEMORY, [100])]
    assert read(filled, SYSTEM, by_rank=True)[-1] == (load.CPU, [8])
    assert read(filled, SYSTEM, limit=1) == [(load.CPU, [1.5, 2, 8])]
    assert read(filled, EVENTS) == [("train/loss", [{"f": "nan"}])]
    with filled.database.read() as connection:
        (head,) = [found.head(1) for found in series.find(connection, "r", load.CPU, source=SYSTEM)]
    assert (head["source"], head["nodes"], "ranks" in head) == (SYSTEM, [0, 3], False)


def test_the_newest_number_of_each_node(filled: Store) -> None:
    with filled.database.read() as connection:
        found = latest.loads(connection, ["r", "none"])["r"]
    assert [(each.node, each.time, each.values) for each in found] == [
        (0, 11.0, {load.CPU: 2.0, load.MEMORY: 100.0}),
        (3, 12.0, {load.CPU: 8.0}),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        line("o", "elsewhere", 1.0, None, {"a": 1}),
        line("o", SYSTEM, "soon", None, {"a": 1}),
        line("o", SYSTEM, 1.0, 0.5, {"a": 1}),
        line("o", SYSTEM, 1.0, None, [1]),
        line("o", SYSTEM, 1.0, None),
        line("o", SYSTEM, 1.0, None, {"a": [1]}),
    ],
)
def test_a_record_that_is_none_is_refused(store_with_run: Store, bad: bytes) -> None:
    with pytest.raises(Refused, match="not a journal record"):
        take(store_with_run, "1-a", bad)
    staging.settle(store_with_run.database, ["r"])
    assert read(store_with_run, SYSTEM) == []


def test_a_script_that_writes_such_records_cannot_break_the_table(store_with_run: Store) -> None:
    take(store_with_run, "1-a", line("o", SYSTEM, 1.0, None, {"a": "text", "b": True, "c": {"f": "nan"}, "d": 1}))
    with store_with_run.database.read() as connection:
        (found,) = latest.loads(connection, ["r"])["r"]
    assert found.values == {"d": 1.0}
