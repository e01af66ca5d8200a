"""Points that come by MLflow's protocol once more: they are stored once, as MLflow's own server does it.

Its client logs the points of a step again when it logs a model in a run (each with the id of the model), and repeats a
request whose answer was lost. A point is the same if it has the name, step, value and millisecond of another one.

The last value of a metric has the highest step, and the latest time of it: what comes after these is new without a
look at what is stored. Only where something does not, the metric is read, once for the whole batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from sqlalchemy import Connection, select

from runyard.contracts.journal import unpack_value
from runyard.store import lookups, tables
from runyard.store.metrics import chunks, series
from runyard.store.metrics.batches import VALUES, Batch, SeriesName
from runyard.store.metrics.chunks import FLOATS, Chunk
from runyard.store.metrics.series import Found
from runyard.store.tables import clean, fingerprint

_LAST = (
    "SELECT sorted_as, last_step, last_time FROM series WHERE (run, sorted_as) IN ({keys}) AND last_time IS NOT NULL"
)

Key = tuple[int, int, "float | str"]
"""Step, millisecond and value of a point."""

Place = tuple["int | None", int]
"""The step and millisecond of a last value."""


def dropped(connection: Connection, run: int, batch: Batch) -> Batch:
    """The batch without the points that are stored for the run already, or are in the batch before."""
    mine = {name: chunk for name, chunk in batch.series.items() if _has_steps(name, chunk)}
    if not mine:
        return batch
    places = _last_places(connection, run, mine)
    left = dict(batch.series)
    for name, chunk in mine.items():
        keys = list(_keys_of(chunk))
        place = places.get(fingerprint(clean(name.name)))
        if place is None or (place[0] is not None and min(keys)[:2] > place):
            if len(set(keys)) == len(keys):
                continue
            seen: set[Key] = set()
        else:
            seen = _stored(connection, run, name.name)
        kept = _kept(chunk, keys, seen)
        if kept is None:
            del left[name]
        else:
            left[name] = kept
    return replace(batch, series=left)


def _has_steps(name: SeriesName, chunk: Chunk) -> bool:
    return name.kind == VALUES and not name.type and chunk.steps is not None and chunk.encoding == FLOATS


def _last_places(connection: Connection, run: int, names: Iterable[SeriesName]) -> dict[bytes, Place]:
    """Step and time of the last values, by the fingerprints of their names."""
    keys = [(run, fingerprint(clean(name.name))) for name in names]
    return {bytes(name): (step, _milliseconds(time)) for name, step, time in lookups.rows(connection, _LAST, keys)}


def _keys_of(chunk: Chunk) -> Iterator[Key]:
    steps = [0 if step is None else step for step in chunks.steps_of(chunk)]
    for step, time, value in zip(steps, chunks.times_of(chunk), chunks.numbers_of(chunk), strict=True):
        yield step, _milliseconds(time), _comparable(value)


def _kept(chunk: Chunk, keys: list[Key], seen: set[Key]) -> Chunk | None:
    """The chunk with those of its points that were not seen; None when there is none."""
    places = []
    for place, key in enumerate(keys):
        if key not in seen:
            seen.add(key)
            places.append(place)
    if len(places) == len(keys):
        return chunk
    if not places:
        return None
    values, times, steps = chunks.numbers_of(chunk), chunks.times_of(chunk), chunks.steps_of(chunk)
    return chunks.pack([values[at] for at in places], [times[at] for at in places], [steps[at] for at in places])


def _stored(connection: Connection, run: int, name: str) -> set[Key]:
    """The points of a metric, of whichever rank. Those that were logged without steps have their number, as in the
    histories that MLflow's client reads."""
    of = tables.series.c
    query = select(tables.series).where(of.run == run, of.name == clean(name), of.kind == VALUES, of.type == "")
    rows = connection.execute(query.order_by(of.serial)).all()
    if not rows:
        return set()
    metric = series.contents(connection, [Found(run, rows, None)])[0]
    return set(_keys_of_content(metric))


def _keys_of_content(metric: Mapping[str, list[object]]) -> Iterator[Key]:
    steps = metric["steps"] or range(len(metric["values"]))
    for step, time, held in zip(steps, metric["times"], metric["values"], strict=True):
        value = unpack_value(held)
        if isinstance(value, (int, float)) and isinstance(time, float):
            yield step if isinstance(step, int) else 0, _milliseconds(time), _comparable(value)


def _milliseconds(time: float) -> int:
    return int(time * 1000 + 0.5)


def _comparable(value: float) -> float | str:
    """What is equal for the same number alone: NaN is not equal to itself, and 0 is to -0."""
    return float(value) if value and value == value else repr(float(value))
