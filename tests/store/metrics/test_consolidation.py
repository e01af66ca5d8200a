from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import select, update

from runyard.store import tables
from runyard.store.metrics import batches, chunks, consolidation, series
from runyard.store.runs import runs
from runyard.store.runs.records import Run
from runyard.store.store import Store

Add = Callable[..., None]
NOW = datetime.now(timezone.utc)


@pytest.fixture
def add(store: Store, make_run: Callable[..., Run]) -> Add:
    make_run("r")

    def add(*records: list[Any]) -> None:
        with store.database.write() as connection:
            series.add(connection, runs.serial_of(connection, "r"), batches.of(records))

    return add


def read(store: Store) -> list[dict[str, Any]]:
    with store.database.read() as connection:
        return series.read(connection, "r")


def stored(store: Store) -> list[tuple[int, int, str]]:
    query = select(tables.chunks).order_by(tables.chunks.c.series, tables.chunks.c.ordinal)
    with store.database.read() as connection:
        return [(row.ordinal, row._mapping["count"], row.encoding) for row in connection.execute(query)]


def end(store: Store, at: datetime) -> None:
    with store.database.write() as connection:
        connection.execute(update(tables.runs).values(status="Completed", ended_at=at))


def points(start: int, count: int = chunks.SMALL) -> list[list[Any]]:
    return [["v", "loss", n / 7, 1e9 + n, n] for n in range(start, start + count)]


def test_points_that_trickle_in_become_large_chunks(store: Store, add: Add) -> None:
    total = 0
    for _ in range(2 * consolidation.WINDOW + 1):
        add(*points(total))
        total += chunks.SMALL
    large = chunks.SMALL * consolidation.WINDOW
    assert stored(store) == [(0, large, "D"), (16, large, "D"), (32, chunks.SMALL, "D")]
    add(*points(total, 3))
    assert stored(store)[-1] == (33, 3, "d")
    (metric,) = read(store)
    assert metric["values"] == [n / 7 for n in range(total + 3)]
    assert metric["steps"] == list(range(total + 3))
    assert metric["times"] == [1e9 + n for n in range(total + 3)]


def test_chunks_of_several_kinds_are_merged_and_every_value_stays_what_it_is(store: Store, add: Add) -> None:
    values = [1, 1.0, "x", None, True, {"f": "nan"}] * 7
    for number, value in enumerate(values):
        add(["v", "any", value, float(number), number])
        add(["t", "table", {"a": [number], f"b{number % 2}": [value]}, float(number)])
    before = repr(read(store))
    assert len(stored(store)) < len(values)
    end(store, NOW)
    assert consolidation.merge_ended(store.database, NOW - timedelta(hours=1), NOW) == 2
    assert [(ordinal, encoding) for ordinal, _, encoding in stored(store)] == [(0, "J"), (0, "T")]
    assert repr(read(store)) == before


def test_what_has_ended_is_packed_once_and_takes_late_points(store: Store, add: Add) -> None:
    add(*points(0, 40))
    add(*points(40, chunks.SMALL + 100))
    add(*points(140 + chunks.SMALL, 5))
    end(store, NOW)
    assert consolidation.merge_ended(store.database, NOW - timedelta(hours=2), NOW - timedelta(hours=1)) == 0
    assert consolidation.merge_ended(store.database, NOW - timedelta(hours=1), NOW) == 1
    assert [count for _, count, _ in stored(store)] == [145 + chunks.SMALL]
    assert consolidation.merge_ended(store.database, NOW - timedelta(hours=1), NOW) == 0
    add(*points(145 + chunks.SMALL, 2))
    (metric,) = read(store)
    assert metric["steps"] == list(range(147 + chunks.SMALL))


def test_a_large_chunk_is_left_alone() -> None:
    large = chunks.pack([1.0] * consolidation.LARGE, [1.0] * consolidation.LARGE, [None] * consolidation.LARGE)
    assert consolidation.together([large]).count == consolidation.LARGE


def test_chunks_of_an_older_version_are_read_and_packed_when_their_run_has_ended(store: Store, add: Add) -> None:
    """They were never packed, however many points they held."""
    add(["v", "loss", 0.5, 1e9, 0])
    old = chunks.pack([n / 7 for n in range(3000)], [1e9 + n for n in range(3000)], list(range(3000)))
    with store.database.write() as connection:
        connection.execute(update(tables.chunks).values(**vars(old)))
        connection.execute(update(tables.series).values(points=3000))
    before = read(store)
    assert before[0]["values"] == [n / 7 for n in range(3000)]
    end(store, NOW)
    assert consolidation.merge_ended(store.database, tables.EPOCH, NOW) == 1
    assert stored(store) == [(0, 3000, "D")]
    assert read(store) == before
