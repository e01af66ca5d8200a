"""The last value of each metric of each run: what runs are found and ordered by, kept up to date with every batch.

It is kept with the series that stands for the metric in lists of runs (`sorted_as`), in the write that counts its
points. The last value is the one of the highest step, and among those of one step the latest one; where there are
no steps, and for one moment, the one that came last. What is no number is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from runyard.contracts.journal import unpack_value
from runyard.store import lookups
from runyard.store.metrics import chunks
from runyard.store.metrics.chunks import FLOATS, Chunk

_OF_RUNS = "SELECT run, name, last, last_step, last_time FROM series WHERE last_time IS NOT NULL AND run IN ({keys})"


@dataclass(frozen=True)
class Last:
    """The last point of a metric."""

    name: str
    value: float
    step: int | None
    time: float


Columns = dict[str, "float | int | None"]
"""What a series keeps of its last value. There is none as long as it has no time; NaN is a value of null."""


def after(row: Any, chunk: Chunk) -> Columns:
    """The columns of a row of `series` once the points of a chunk were added to it."""
    before: Columns = {"last": row.last, "last_step": row.last_step, "last_time": row.last_time}
    if row.sorted_as is None:
        return before
    found = last_of(row.name, chunk)
    if found is None:
        return before
    stepped = row.last_time is not None and found.step is not None and row.last_step is not None
    if stepped and (found.step, found.time) < (row.last_step, row.last_time):
        return before
    return columns_of(found)


def columns_of(last: Last) -> Columns:
    value = None if last.value != last.value else last.value
    return {"last": value, "last_step": last.step, "last_time": last.time}


def of_runs(connection: Connection, runs: Iterable[int]) -> dict[int, list[Last]]:
    """The last values of some runs, by the serial of each."""
    found: dict[int, list[Last]] = {}
    keys = [(run,) for run in runs]
    for run, name, value, step, time in dict.fromkeys(lookups.rows(connection, _OF_RUNS, keys)):
        found.setdefault(run, []).append(Last(name, math.nan if value is None else value, step, time))
    return found


def last_of(name: str, chunk: Chunk) -> Last | None:
    """The last number in a chunk; None when there is none."""
    if chunk.is_closed:
        chunk = chunks.opened(chunk)
    position = _position(chunk)
    values = chunks.numbers_of(chunk) if chunk.encoding == FLOATS else chunks.values_of(chunk)
    value = _number(values[position])
    while value is None and position:
        position -= 1
        value = _number(values[position])
    if value is None:
        return None
    return Last(name, value, chunks.step_reader(chunk)(position), chunks.time_reader(chunk)(position))


def _position(chunk: Chunk) -> int:
    """Where in a chunk the latest point of the highest step is."""
    last = chunk.count - 1
    if chunk.steps is None:
        return last
    steps = [chunks.NO_STEP if step is None else step for step in chunks.steps_of(chunk)]
    highest = max(steps)
    if highest == chunks.NO_STEP:
        return last
    if steps.count(highest) == 1:
        return steps.index(highest)
    times = chunks.times_of(chunk)
    return max((times[at], at) for at, step in enumerate(steps) if step == highest)[1]


def _number(value: Any) -> float | None:
    if type(value) is dict:
        value = unpack_value(value)
    if type(value) is bool or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
