"""A series of which only buckets are left: the shape of its curve, with every extreme. Nothing here knows the database.

It is one chunk of the encoding `B`. Its values are the columns of the buckets, each packed as a chunk of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from runyard.contracts.journal import unpack_value
from runyard.store.metrics import chunks
from runyard.store.metrics.buckets import buckets
from runyard.store.metrics.chunks import Chunk
from runyard.store.metrics.merging import pieces_of_rows

THINNED = "B"

KEPT = 1000
"""Buckets that are left of a series, and values or rows of one that is not of numbers."""

Bucket = dict[str, Any]

_FIELDS = ("first", "last", "count", "min", "max", "step_first", "step_last", "time_first", "time_last")
_COLUMN = struct.Struct("<cI")


def thinned(series: Iterable[Chunk], count: int) -> Chunk:
    """The chunk that takes the place of a numeric series of `count` points."""
    found = buckets(series, count, KEPT)
    packed = b""
    for field in _FIELDS:
        column = chunks.closed(chunks.pack([each[field] for each in found], [0.0] * len(found), [None] * len(found)))
        packed += _COLUMN.pack(column.encoding.encode(), len(column.values)) + column.values
    extremes = [unpack_value(each[name]) for each in found for name in ("min", "max") if each[name] is not None]
    return Chunk(count, THINNED, struct.pack("<I", len(found)), None, packed, *chunks.extremes(extremes))


def newest(series: Sequence[Chunk]) -> Chunk:
    """The last values or rows of what is no series of numbers, as one chunk."""
    values: list[Any] = []
    times: list[float] = []
    steps: list[int | None] = []
    is_table = series[-1].encoding.lower() == chunks.ROWS
    for chunk in reversed(series):
        values[:0] = chunks.rows_of(chunk) if is_table else chunks.values_of(chunk)
        times[:0] = chunks.times_of(chunk)
        steps[:0] = chunks.steps_of(chunk)
        if len(values) >= KEPT:
            break
    values, times, steps = values[-KEPT:], times[-KEPT:], steps[-KEPT:]
    if is_table:
        return chunks.pack_rows(pieces_of_rows(values), len(values), times)
    return chunks.pack(values, times, steps)


def buckets_of(chunk: Chunk) -> list[Bucket]:
    """The buckets of a chunk; one of another encoding, of points that came late, is one bucket."""
    if chunk.encoding != THINNED:
        return buckets([chunk], chunk.count, 1)
    (number,) = struct.unpack("<I", chunk.times)
    columns, at = [], 0
    for _ in _FIELDS:
        encoding, length = _COLUMN.unpack_from(chunk.values, at)
        at += _COLUMN.size
        column = Chunk(number, encoding.decode(), b"", None, chunk.values[at : at + length])
        columns.append(chunks.values_of(column))
        at += length
    return [dict(zip(_FIELDS, row, strict=True)) for row in zip(*columns, strict=True)]


def regrouped(found: list[Bucket], number: int) -> list[Bucket]:
    """Buckets as at most so many, in the order of time: those of several ranks may be among one another."""
    found = sorted(found, key=lambda each: each["time_first"])
    number = min(number, len(found))
    bounds = [len(found) * at // number for at in range(number + 1)]
    return [_joined(found[start:end]) for start, end in pairwise(bounds)]


def _joined(some: list[Bucket]) -> Bucket:
    first, last = some[0], some[-1]
    joined = {**first, **{name: last[name] for name in ("last", "step_last", "time_last")}}
    joined["count"] = sum(each["count"] for each in some)
    for name, of in (("min", min), ("max", max)):
        joined[name] = of((each[name] for each in some if each[name] is not None), key=unpack_value, default=None)
    return joined
