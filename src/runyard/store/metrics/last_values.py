"""The last value of each metric of each run: what runs are found and ordered by, kept up to date with every batch.

The last value is the one of the highest step; among those of one step, and where there are no steps, the one that came
last. A metric that several ranks log has one last value. What is no number is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from runyard.contracts.journal import unpack_value
from runyard.store import lookups, tables
from runyard.store.errors import StoreError
from runyard.store.metrics import chunks
from runyard.store.metrics.batches import VALUES, SeriesName
from runyard.store.metrics.chunks import FLOATS, Chunk
from runyard.store.tables import clean, fingerprint

_NEWER = """
    ON CONFLICT (run, name_hash) DO UPDATE
    SET value = excluded.value, is_nan = excluded.is_nan, step = excluded.step, time = excluded.time
    WHERE excluded.step IS NULL OR last_values.step IS NULL OR excluded.step > last_values.step
    OR (excluded.step = last_values.step AND excluded.time >= last_values.time)
"""
_INTO = "INSERT INTO last_values (run, name_hash, experiment, name, value, is_nan, step, time) "
_PUT = lookups.Many(
    f"{_INTO} SELECT serial, ?, experiment, ?, ?, ?, ?, ? FROM runs WHERE serial = ? {_NEWER}",
    f"{_INTO} SELECT serial, new.hash, experiment, new.name, new.value, new.is_nan, new.step, new.time FROM unnest("
    "%b::bytea[], %b::text[], %b::double precision[], %b::int[], %b::bigint[], %b::double precision[], %b::bigint[]) "
    f"AS new(hash, name, value, is_nan, step, time, run) JOIN runs ON serial = new.run {_NEWER}",
)
_OF_RUNS = "SELECT run, name, value, is_nan, step, time FROM last_values WHERE run IN ({keys})"


@dataclass(frozen=True)
class Last:
    """The last point of a metric."""

    name: str
    value: float
    step: int | None
    time: float


def put(connection: Connection, run: int, series: Mapping[SeriesName, Chunk]) -> None:
    """Take the last values of what is being added to the series of a run."""
    found = {}
    for name, chunk in series.items():
        if name.kind == VALUES and not name.type and (last := last_of(name.name, chunk)) is not None:
            values = _values(run, last)
            found[values[0]] = values  # two names can be one for the database
    lookups.execute(connection, _PUT, list(found.values()))


def of_runs(connection: Connection, runs: Iterable[int]) -> dict[int, list[Last]]:
    """The last values of some runs, by the serial of each."""
    found: dict[int, list[Last]] = {}
    keys = [(run,) for run in runs]
    for run, name, value, is_nan, step, time in dict.fromkeys(lookups.rows(connection, _OF_RUNS, keys)):
        found.setdefault(run, []).append(Last(name, math.nan if is_nan else value, step, time))
    return found


def last_of(name: str, chunk: Chunk) -> Last | None:
    """The last number in a chunk; None when there is none."""
    position = _position(chunk)
    if chunk.is_closed:
        chunk = chunks.opened(chunk)
    values = chunks.numbers_of(chunk) if chunk.encoding == FLOATS else chunks.values_of(chunk)
    value = _number(values[position])
    while value is None and position:
        position -= 1
        value = _number(values[position])
    if value is None:
        return None
    return Last(name, value, chunks.step_reader(chunk)(position), chunks.time_reader(chunk)(position))


def fill(connection: Connection) -> None:
    """Find the last values of all series that are there: for a database that has none of them yet."""
    for run, name, chunk, series in _last_chunks(connection):
        if last_of(name, chunk) is not None:
            put(connection, run, {SeriesName(name, VALUES): chunk})
            continue
        for earlier in _earlier(connection, series):  # the last ones hold no number
            if last_of(name, earlier) is not None:
                put(connection, run, {SeriesName(name, VALUES): earlier})
                break


def _earlier(connection: Connection, series: int) -> Iterator[Chunk]:
    """The chunks of a series, the last one first."""
    query = select(tables.chunks).where(tables.chunks.c.series == series).order_by(tables.chunks.c.ordinal.desc())
    for row in connection.execute(query):
        yield chunks.opened(Chunk.of(row._mapping))


def _last_chunks(connection: Connection) -> Iterator[tuple[int, str, Chunk, int]]:
    """The last chunk of each series of values. One that cannot be read is left out."""
    of, held = tables.series.c, tables.chunks.c
    query = (
        select(of.run, of.name, tables.chunks)
        .join(tables.chunks, (held.series == of.serial) & (held.ordinal == of.chunks - 1))
        .where(of.kind == VALUES, of.thinned_at.is_(None))
        .order_by(of.serial)
    )
    after = 0
    while True:
        rows = connection.execute(query.where(of.serial > after).limit(1000)).all()
        for row in rows:
            try:
                yield row.run, row.name, chunks.opened(Chunk.of(row._mapping)), row.series
            except StoreError:
                continue
        if len(rows) < 1000:
            return
        after = rows[-1].series


def _position(chunk: Chunk) -> int:
    """Where in a chunk the point of the highest step is."""
    last = chunk.count - 1
    if chunk.steps is None:
        return last
    steps = [chunks.NO_STEP if step is None else step for step in chunks.steps_of(chunk)]
    highest = max(steps)
    while steps[last] != highest:
        last -= 1
    return last


def _number(value: Any) -> float | None:
    if type(value) is dict:
        value = unpack_value(value)
    if type(value) is bool or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _values(run: int, last: Last) -> tuple[Any, ...]:
    name, is_nan = clean(last.name), last.value != last.value
    return (fingerprint(name), name, 0.0 if is_nan else last.value, int(is_nan), last.step, last.time, run)
