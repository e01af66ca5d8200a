"""What several ranks of a run have logged under one name, as one series in the order of time."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from runyard.store.metrics import chunks
from runyard.store.metrics.chunks import ROWS, Chunk

AT_ONCE = 8192
"""Points in a chunk of the merged series."""

_Point = tuple[float, float, Any, "int | None"]


def merged(series: Sequence[Iterable[Chunk]]) -> Iterator[Chunk]:
    """The points of several series as chunks of one. What one rank has logged stays in its own order."""
    if len(series) == 1:
        yield from series[0]
        return
    points = heapq.merge(*map(_points, series), key=itemgetter(0))
    while some := list(islice(points, AT_ONCE)):
        _, times, values, steps = map(list, zip(*some, strict=True))
        if type(values[0]) is _Row:
            yield chunks.pack_rows(pieces_of_rows(values), len(some), times)
        else:
            yield chunks.pack(values, times, steps)


class _Row(dict[str, Any]):
    """A row of a table, among values."""


def _points(pieces: Iterable[Chunk]) -> Iterator[_Point]:
    """The points of one rank, each with a time that is never set back: so they do not change places."""
    latest = float("-inf")
    for chunk in pieces:
        rows = chunk.encoding.lower() == ROWS
        values = map(_Row, chunks.rows_of(chunk)) if rows else chunks.values_of(chunk)
        for time, value, step in zip(chunks.times_of(chunk), values, chunks.steps_of(chunk), strict=True):
            latest = max(latest, time)
            yield latest, time, value, step


def pieces_of_rows(rows: Sequence[dict[str, Any]]) -> list[dict[str, list[Any]]]:
    """Rows as pieces of a table: consecutive ones with the same columns are one piece."""
    found = []
    for columns, group in groupby(rows, key=_columns):
        some = list(group)
        found.append({name: [row[name] for row in some] for name in columns})
    return found


def _columns(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row)
