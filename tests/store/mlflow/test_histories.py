"""Histories: every point that was logged is in them, in the order of MLflow's: by time, then by step."""

from __future__ import annotations

from tests.server.conftest import journal_lines
from tests.store.mlflow.conftest import Filled

from runyard.store.metrics import batches, series
from runyard.store.mlflow import histories
from runyard.store.runs import runs


def test_points_steps_and_what_is_no_number(filled: Filled) -> None:
    id = filled.run()
    lines = journal_lines(
        ["v", "plain", 1, 1.0, None],
        ["v", "plain", 2.5, 2.0, None],
        ["v", "mixed", "text", 1.0, None],
        ["v", "mixed", {"f": "inf"}, 1.0015, 4],
        ["v", "texts", "x", 1.0, None],
    )
    with filled.store.database.write() as connection:
        series.add(connection, runs.serial_of(connection, id), batches.parse(lines, 0))
        plain = histories.read(connection, id, "plain")
        mixed = histories.read(connection, id, "mixed")
        assert (list(plain.values), list(plain.times), list(plain.steps)) == ([1.0, 2.5], [1000, 2000], [0, 1])
        assert (list(mixed.values), list(mixed.times), list(mixed.steps)) == ([float("inf")], [1002], [4])
        assert len(histories.read(connection, id, "texts")) == 0
        assert len(histories.read(connection, id, "none")) == 0


def test_points_that_come_out_of_order_are_in_order(filled: Filled) -> None:
    id = filled.run()
    points = [(5.0, 1.0, 5), (3.0, 1.0, 3), (0.0, 0.5, 9), (7.0, 1.002, 0), (3.5, 1.0, 3)]
    lines = journal_lines(*(["v", "m", value, time, step] for value, time, step in points))
    with filled.store.database.write() as connection:
        series.add(connection, runs.serial_of(connection, id), batches.parse(lines, 0))
        found = histories.read(connection, id, "m")
    assert list(zip(found.values, found.times, found.steps, strict=True)) == [
        (0.0, 500, 9),
        (3.0, 1000, 3),
        (3.5, 1000, 3),
        (5.0, 1000, 5),
        (7.0, 1002, 0),
    ]


def test_parts_and_samples() -> None:
    whole = histories.History(range(1000), range(1000), range(1000))
    assert list(whole.part(2, 4).values) == [2, 3]
    assert list(whole.between(990, None).steps) == list(range(990, 1000))
    assert whole.between(None, None) is whole
    sampled = whole.sampled(11)
    assert (len(sampled), sampled.steps[0], sampled.steps[-1]) == (11, 0, 999)
    assert whole.sampled(5000) is whole
    assert list(whole.sampled(1).values) == [0]
