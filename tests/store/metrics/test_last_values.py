"""The last value of a metric is what runs are found and ordered by: it has to be the right one, however it came."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from sqlalchemy import update
from tests.server.conftest import journal_lines

from runyard.store.metrics import batches, chunks, last_values, series
from runyard.store.metrics.last_values import Last
from runyard.store.runs import runs
from runyard.store.runs.records import Run
from runyard.store.store import Store
from runyard.store.tables import series as rows


def test_the_highest_step_counts_and_then_what_came_last(store: Store, make_run: Callable[..., Run]) -> None:
    run = make_run()
    records: list[Any] = [
        ["v", "stepped", 1.0, 10.0, 5],
        ["v", "stepped", 2.0, 11.0, 7],
        ["v", "stepped", 3.0, 12.0, 6],
        ["v", "plain", 1, 10.0, None],
        ["v", "plain", 2, 9.0, None],
        ["v", "odd", {"f": "nan"}, 10.0, 1],
        ["v", "mixed", 4.5, 10.0, None],
        ["v", "mixed", "a text", 11.0, None],
        ["v", "text", "no number", 11.0, None],
    ]
    with store.database.write() as connection:
        serial = runs.serial_of(connection, run.id)
        for record in records:  # one batch each: the later ones meet what is there
            series.add(connection, serial, batches.parse(journal_lines(record), 0))
    with store.database.read() as connection:
        found = {last.name: last for last in last_values.of_runs(connection, [serial])[serial]}
    assert set(found) == {"stepped", "plain", "odd", "mixed"}
    assert found["stepped"] == Last("stepped", 2.0, 7, 11.0)
    assert found["plain"].value == 2
    assert math.isnan(found["odd"].value)
    assert found["mixed"].value == 4.5
    with store.database.write() as connection:  # as in a database that has none yet
        nothing = dict.fromkeys(("sorted_as", "experiment", "last", "last_step", "last_time"))
        connection.execute(update(rows).values(nothing))
        import_module("runyard.store.migrations.versions.v0017_run_table").note_last_values(connection)
    with store.database.read() as connection:
        again = {last.name: last for last in last_values.of_runs(connection, [serial])[serial]}
    assert str(again) == str(found)


@pytest.mark.parametrize("together", [True, False])
def test_among_the_points_of_a_step_the_latest_counts(
    store: Store, make_run: Callable[..., Run], together: bool
) -> None:
    run = make_run()
    points = [(1.0, 12.0, 3), (2.0, 14.0, 3), (3.0, 13.0, 3), (4.0, 20.0, 2), (5.0, 14.0, 3)]
    lines = [journal_lines(["v", "m", value, time, step]) for value, time, step in points]
    with store.database.write() as connection:
        serial = runs.serial_of(connection, run.id)
        for some in [b"".join(lines)] if together else lines:
            series.add(connection, serial, batches.parse(some, 0))
    with store.database.read() as connection:
        assert last_values.of_runs(connection, [serial])[serial] == [Last("m", 5.0, 3, 14.0)]


@pytest.mark.parametrize("value", [10**400, -(10**400)])
def test_a_number_beyond_all_floats_is_infinite(value: int) -> None:
    last = last_values.last_of("x", chunks.pack([value], [1.0], [None]))
    assert last is not None
    assert math.isinf(last.value)
    assert (last.value > 0) == (value > 0)
