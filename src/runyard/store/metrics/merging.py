"""What several ranks of a run have logged under one name, as one series in the order of time."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from runyard.store.metrics import chunks
from runyard.store.metrics.chunks import ROWS, Chunk


def merged(series: list[list[Chunk]]) -> list[Chunk]:
    """The points of several series as chunks of one. What one rank has logged stays in its own order."""
    if len(series) == 1:
        return series[0]
    pieces = [chunk for each in series for chunk in each]
    times = [time for chunk in pieces for time in chunks.times_of(chunk)]
    order = sorted(range(len(times)), key=_never_back(series).__getitem__)
    in_order = [times[at] for at in order]
    if pieces[0].encoding.lower() == ROWS:
        rows = [row for chunk in pieces for row in chunks.rows_of(chunk)]
        return [chunks.pack_rows(_pieces([rows[at] for at in order]), len(order), in_order)]
    values = [value for chunk in pieces for value in chunks.values_of(chunk)]
    steps = [step for chunk in pieces for step in chunks.steps_of(chunk)]
    return [chunks.pack([values[at] for at in order], in_order, [steps[at] for at in order])]


def _never_back(series: list[list[Chunk]]) -> list[float]:
    """The times of all points, each rank's as a clock that is never set back: its points do not change places."""
    found: list[float] = []
    for pieces in series:
        latest = float("-inf")
        for chunk in pieces:
            for time in chunks.times_of(chunk):
                latest = max(latest, time)
                found.append(latest)
    return found


def _pieces(rows: list[dict[str, Any]]) -> list[dict[str, list[Any]]]:
    """Rows as pieces of a table: consecutive ones with the same columns are one piece."""
    found = []
    for columns, group in groupby(rows, key=_columns):
        some = list(group)
        found.append({name: [row[name] for row in some] for name in columns})
    return found


def _columns(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row)
