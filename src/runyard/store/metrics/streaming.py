"""The metrics of runs as JSON, piece by piece: what is read at once, and held in memory, does not grow with a series.

The document is the one of docs/protocol.md. Each metric is read in a transaction of its own; one of many points is
copied as it is stored (some bytes a point), so that a slow reader holds no transaction.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import IO, Any

from runyard.store.database import Database
from runyard.store.metrics import chunks, exact_json, series
from runyard.store.metrics.batches import FILE, TABLE
from runyard.store.metrics.chunks import Chunk
from runyard.store.metrics.merging import merged
from runyard.store.metrics.series import Found, Window
from runyard.store.slices import slices

LARGE = 20_000
"""Points that are turned into JSON as a whole."""

AT_ONCE = 8192
"""Points of a larger metric that are: some milliseconds, during which no other thread runs."""

IN_MEMORY = 4 << 20
"""Bytes that wait in memory for a slow reader; more go to a temporary file."""


@dataclass(frozen=True)
class Asked:
    """Which metrics of each run, and how: see `series.read`."""

    name: str | Sequence[str] | None = None
    buckets: int | None = None
    limit: int | None = None
    by_rank: bool = False
    source: str = ""
    window: Window | None = None


def document(database: Database, run_ids: Iterable[str], asked: Asked) -> Iterator[bytes]:
    """`{"metrics": {run id: [metric, ...]}}`; runs without metrics are left out."""
    yield b'{"metrics":{'
    before = b""
    for run_id in run_ids:
        opening = before + exact_json.dumps(run_id) + b":["
        for metric in _of_run(database, run_id, asked):
            yield opening
            yield from metric
            opening, before = b",", b"],"
    yield b"]}}" if before else b"}}"


def _of_run(database: Database, run_id: str, asked: Asked) -> Iterator[Iterable[bytes]]:
    """The metrics of a run, each in pieces."""
    with database.read() as connection:
        metrics = series.find(connection, run_id, asked.name, asked.limit, asked.by_rank, asked.source)
        is_small = sum(metric.points for metric in metrics) <= LARGE
        whole = series.contents(connection, metrics, asked.buckets, asked.window) if is_small else []
    for content in whole:
        yield (exact_json.dumps(content),)
    if is_small:
        return
    for some in together(metrics):
        if asked.buckets is None and some[0].points > LARGE and not some[0].is_thinned:
            yield _large(database, some[0])
            continue
        with database.read() as connection:
            whole = series.contents(connection, some, asked.buckets, asked.window)
        for content in whole:
            yield (exact_json.dumps(content),)


def together(metrics: Iterable[Found]) -> Iterator[list[Found]]:
    """Neighbours that are read at once: as many as come to `LARGE` points, or a single one that has more."""
    group: list[Found] = []
    points = 0
    for metric in metrics:
        if group and points + metric.points > LARGE:
            yield group
            group, points = [], 0
        group.append(metric)
        points += metric.points
    if group:
        yield group


def _large(database: Database, metric: Found) -> Iterator[bytes]:
    row = metric.rows[0]
    with closing(_Copy()) as copy:
        with database.read() as connection:
            for each in metric.rows:
                for chunk in series.chunks_of(connection, each.serial):
                    copy.add(each.serial, chunk)
        yield exact_json.dumps(metric.head(copy.points))[:-1]
        if row.kind == TABLE:
            yield from _columns(_in_order(metric, copy))
        elif row.kind == FILE:
            yield b',"type":' + exact_json.dumps(row.type) + b',"values":['
            yield from _items(_in_order(metric, copy), chunks.values_of)
            yield b"]"
        else:
            with closing(_Copy()) as ordered:
                for chunk in _in_order(metric, copy) if len(metric.rows) > 1 else ():
                    ordered.add(0, chunk)
                pieces = ordered if len(metric.rows) > 1 else copy
                yield from _points(pieces)
        yield b"}"


def _points(copy: _Copy) -> Iterator[bytes]:
    yield b',"values":['
    yield from _items(copy.chunks(), chunks.values_of)
    if copy.has_steps:
        yield b'],"steps":['
        yield from _items(copy.chunks(), chunks.steps_of)
        yield b'],"times":['
    else:
        yield b'],"steps":null,"times":['
    yield from _items(copy.chunks(), lambda chunk: list(chunks.times_of(chunk)))
    yield b"]"


def _columns(pieces: Iterable[Chunk]) -> Iterator[bytes]:
    """The rows by column, each column gathered as JSON. A row that lacks a column has null there."""
    columns: dict[str, IO[bytes]] = {}
    rows = 0
    with ExitStack() as stack:
        for chunk in pieces:
            for piece in chunks.pieces_of(chunk):
                length = len(next(iter(piece.values())))
                for name in piece:
                    if name not in columns:
                        columns[name] = stack.enter_context(tempfile.SpooledTemporaryFile(IN_MEMORY // 4))
                        columns[name].write(b"null," * rows)
                for name, file in columns.items():
                    file.write(exact_json.dumps(piece.get(name) or [None] * length)[1:-1] + b",")
                rows += length
        opening = b',"columns":{'
        for name, file in columns.items():
            yield opening + exact_json.dumps(name) + b":["
            left = file.tell() - 1  # without the last comma
            file.seek(0)
            while some := file.read(min(left, 1 << 18)):
                left -= len(some)
                yield some
            opening = b"],"
        yield b"]}"


def _items(pieces: Iterable[Chunk], of: Callable[[Chunk], list[Any]]) -> Iterator[bytes]:
    """What is in the brackets of a list."""
    comma = b""
    for chunk in pieces:
        for some in slices(of(chunk), AT_ONCE):
            yield comma + exact_json.dumps(some)[1:-1]
            comma = b","


def _in_order(metric: Found, copy: _Copy) -> Iterator[Chunk]:
    return merged([copy.chunks(row.serial) for row in metric.rows])


class _Copy:
    """Chunks as they are stored, in memory or in a temporary file, to be gone through several times."""

    def __init__(self) -> None:
        self.points = 0
        self.has_steps = False
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - `close` does
        self._held: list[tuple[int, Chunk, int, tuple[int, int | None, int]]] = []

    def add(self, series: int, chunk: Chunk) -> None:
        self.points += chunk.count
        self.has_steps = self.has_steps or chunk.steps is not None
        lengths = (len(chunk.times), None if chunk.steps is None else len(chunk.steps), len(chunk.values))
        self._held.append((series, replace(chunk, times=b"", steps=None, values=b""), self._file.tell(), lengths))
        for column in (chunk.times, chunk.steps, chunk.values):
            self._file.write(column or b"")

    def chunks(self, series: int | None = None) -> Iterator[Chunk]:
        """The chunks of one series, or all, in the order in which they were added."""
        for of, empty, start, (times, steps, values) in self._held:
            if series is None or of == series:
                self._file.seek(start)
                yield replace(
                    empty,
                    times=self._file.read(times),
                    steps=None if steps is None else self._file.read(steps),
                    values=self._file.read(values),
                )

    def close(self) -> None:
        self._file.close()


def gathered(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The same bytes in pieces of at least so many: each one that is sent costs a change of threads."""
    waiting: list[bytes] = []
    length = 0
    for piece in pieces:
        waiting.append(piece)
        length += len(piece)
        if length >= size:
            yield b"".join(waiting)
            waiting, length = [], 0
    yield b"".join(waiting)
