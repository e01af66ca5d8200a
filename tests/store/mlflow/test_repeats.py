"""Points that MLflow's client sends twice are stored once; what a script logs by `run.log` is stored as it comes."""

from __future__ import annotations

import math
from typing import Any

from tests.store.mlflow.conftest import Filled

from runyard.contracts import journal
from runyard.store.metrics import journals, series, staging
from runyard.store.mlflow import logging
from runyard.store.mlflow.logging import Point
from runyard.store.runs import runs


def test_a_point_that_comes_again_is_stored_once(filled: Filled) -> None:
    id = filled.run()
    many = [Point("m", float(step), 1000.0 + step, step) for step in range(2000)]
    odd = [Point("m", math.nan, 1.0, 0), Point("m", -0.0, 1.0, 0), Point("m", 0.0, 1.0, 0), Point("m", 0.0, 1.001, 0)]
    for points in (many, odd, many[:3], [*many, *odd], odd, [odd[0], odd[0]], [Point("m", 5.0, 1000.0, 0)]):
        _put(filled, id, points)
    found = _read(filled, id)["m"]
    wanted = [*many, *odd, Point("m", 5.0, 1000.0, 0)]
    assert [(repr(value), time, step) for value, time, step in found] == [
        (repr(each.value), each.time, each.step) for each in wanted
    ]


def test_repeats_in_journals_of_a_run(filled: Filled) -> None:
    """The first points of a gang whose rank 0 logs a model: MLflow sends those of step 0 again."""
    id = filled.run()
    first = _lines(*(("loss", 0.5 + step, 10.0 + step, step) for step in range(5)))
    again = _lines(("loss", 0.5, 10.0, 0), ("loss", 9.5, 15.0, 5))
    for lines, writer in ((first, "mlflow-1-a"), (again, "mlflow-2-b"), (again, "mlflow-3-c")):
        with filled.store.database.write() as connection:
            journals.accept(connection, id, writer, 0, lines)
    assert [value for value, _, _ in _read(filled, id)["loss"]] == [0.5, 1.5, 2.5, 3.5, 4.5, 9.5]


def test_what_the_script_logs_itself_may_repeat(filled: Filled) -> None:
    """MLflow reads points of `run.log` with their number as the step and a time in milliseconds, and repeats them."""
    id = filled.run()
    own = _lines(("a", 1.0, 10.0004, None), ("a", 1.0, 10.0004, None), ("b", 1.0, 10.0, 0), ("b", 1.0, 10.0, 0))
    with filled.store.database.write() as connection:
        journals.accept(connection, id, "rank0-1", 0, own)
    _put(filled, id, [Point("a", 1.0, 10.0, 0), Point("a", 1.0, 10.0, 1), Point("b", 1.0, 10.0, 0)])
    found = _read(filled, id)
    assert [len(found[name]) for name in "ab"] == [2, 2]
    _put(filled, id, [Point("a", 2.0, 10.0, 0)])
    assert [value for value, _, _ in _read(filled, id)["a"]].count(2.0) == 1


def _lines(*points: tuple[str, float, float, int | None]) -> bytes:
    return b"".join(journal.line(journal.VALUE, *point) for point in points)


def _put(filled: Filled, id: str, points: list[Point]) -> None:
    with filled.store.database.write() as connection:
        logging.put(connection, runs.serial_of(connection, id), points)


def _read(filled: Filled, id: str) -> dict[str, list[tuple[Any, ...]]]:
    staging.settle(filled.store.database, [id])
    with filled.store.database.read() as connection:
        return {
            each["name"]: [
                (journal.unpack_value(value), time, step)
                for value, time, step in zip(
                    each["values"], each["times"], each["steps"] or [None] * each["count"], strict=True
                )
            ]
            for each in series.read(connection, id)
        }
