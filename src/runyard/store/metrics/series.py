"""Series: the metrics of runs, stored as packed chunks. How a chunk is packed is in `runyard.store.metrics.chunks`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from runyard.contracts.journal import SYSTEM
from runyard.store import tables
from runyard.store.metrics import chunks, consolidation, last_values, thinning
from runyard.store.metrics.batches import FILE, TABLE, VALUES, Batch, SeriesName
from runyard.store.metrics.buckets import buckets as downsampled
from runyard.store.metrics.chunks import Chunk
from runyard.store.metrics.merging import merged
from runyard.store.runs import runs
from runyard.store.slices import slices
from runyard.store.tables import clean, fingerprint

FEW = 100
"""Up to so many series are selected one by one; of a run that has more, all between the first and the last are read."""

Window = tuple[int, int | None]
"""The points of a series from the first on, to before the second."""

Metric = dict[str, Any]
"""One metric in the form of docs/protocol.md (M)."""

# Building a statement costs more than running it: those that every batch needs are built once.
_OF_RUN = select(tables.series).where(tables.series.c.run == bindparam("of"))
_BY_IDENTITY = _OF_RUN.where(tables.series.c.identity.in_(bindparam("identities", expanding=True)))
_SMALL_TAILS = (
    select(tables.chunks)
    .join(tables.series)
    .where(
        tables.series.c.serial.in_(bindparam("serials", expanding=True)),
        tables.chunks.c.ordinal == tables.series.c.chunks - 1,
        tables.chunks.c.count < chunks.SMALL,
    )
)
_STANDING = select(tables.series.c.sorted_as).where(
    tables.series.c.run == bindparam("of"), tables.series.c.sorted_as.is_not(None)
)
_EXPERIMENT = select(tables.runs.c.experiment).where(tables.runs.c.serial == bindparam("of"))
_INSERT = insert(tables.chunks)
_LENGTHEN = update(tables.chunks).where(
    tables.chunks.c.series == bindparam("at"), tables.chunks.c.ordinal == bindparam("nth")
)
_COUNT = update(tables.series).where(tables.series.c.serial == bindparam("at"))


def add(connection: Connection, run: int, batch: Batch, rank: int | None = None) -> None:
    """Add the metrics of a batch: one chunk per series, or points at the end of a chunk that is small.

    Each rank of a distributed run has series of its own.
    """
    _describe(connection, run, batch.descriptions)
    if not batch.series:
        return
    rows = _ensure(connection, run, list(batch.series), rank)
    tails = _small_tails(connection, [row.serial for row in rows.values() if row.chunks])
    fresh, longer, counts = [], [], []
    for name, chunk in batch.series.items():
        row = rows[name]
        tail = tails.get(row.serial)
        pieces = row.chunks
        if tail is not None and tail.encoding == chunk.encoding:
            longer.append(_values(row.serial, pieces - 1, _stored(tail.joined(chunk))))
        else:
            fresh.append(_values(row.serial, pieces, _stored(chunk)))
            pieces += 1
        counted = {"at": row.serial, "points": row.points + chunk.count, "chunks": pieces}
        counts.append({**counted, **last_values.after(row, chunk)})
    if fresh:
        connection.execute(_INSERT, fresh)
    if longer:
        connection.execute(_LENGTHEN, [{"at": row.pop("series"), "nth": row.pop("ordinal"), **row} for row in longer])
    connection.execute(_COUNT, counts)
    for made in fresh:
        if consolidation.is_due(made["ordinal"]):
            consolidation.merge_window(connection, made["series"], made["ordinal"])


@dataclass(frozen=True)
class Found:
    """A metric of a run: its series, one for each rank that logged it, in the order in which they first came."""

    run: int
    rows: Sequence[Row[Any]]
    description: str | None

    @cached_property
    def points(self) -> int:
        return sum(row.points for row in self.rows)

    @cached_property
    def is_thinned(self) -> bool:
        """Whether old points were dropped: what is left is little."""
        return any(row.thinned_at is not None for row in self.rows)

    def head(self, points: int) -> Metric:
        """What there is to know of the metric besides its points; `points` of them are stored now."""
        row = self.rows[0]
        # Fewer than were counted are stored when old ones were dropped; more, when some have come since.
        count = max(points, self.points)
        head = {"name": row.name, "kind": row.kind, "description": self.description, "count": count}
        if row.kind == VALUES and row.type:
            head["source"] = row.type
        ranks = sorted({each.rank for each in self.rows if each.rank is not None})
        head = {**head, "nodes" if row.type == SYSTEM else "ranks": ranks} if ranks else head
        return {**head, "thinned": True} if self.is_thinned else head


def read(
    connection: Connection,
    run_id: str,
    name: str | Sequence[str] | None = None,
    buckets: int | None = None,
    limit: int | None = None,
    by_rank: bool = False,
    source: str = "",
) -> list[Metric]:
    """The metrics of a run in the order in which they first came, or those of one name; at most `limit` of them. With
    a `source`, what was observed from there instead (`journal.SOURCES`).

    With `buckets`, a numeric series of more points than that comes as so many buckets, and any other metric with so
    many of its last values or rows. What several ranks have logged under one name is one metric, in the order of time;
    with `by_rank`, one for each of them.
    """
    return contents(connection, find(connection, run_id, name, limit, by_rank, source), buckets)


def find(
    connection: Connection,
    run_id: str,
    name: str | Sequence[str] | None = None,
    limit: int | None = None,
    by_rank: bool = False,
    source: str = "",
) -> list[Found]:
    """The metrics of a run as `read` returns them, without their points; `name` may be several."""
    run = runs.serial_of(connection, run_id)
    query = select(tables.series).where(tables.series.c.run == run, is_of(source)).order_by(tables.series.c.serial)
    if name is not None:
        wanted = [name] if isinstance(name, str) else name
        query = query.where(tables.series.c.name.in_([clean(each) for each in wanted]))
    elif limit is not None:
        query = _only_first(query, run, limit, source)
    rows = connection.execute(query).all()
    described = _descriptions(connection, run)
    return [Found(run, group, described.get(group[0].name)) for group in _together(rows, by_rank).values()]


def find_of_runs(connection: Connection, run_ids: Sequence[str], names: Sequence[str]) -> list[tuple[str, Found]]:
    """The metrics of these names that several runs have, without their points and descriptions."""
    serials = runs.serials_of(connection, run_ids)
    columns = tables.series.c
    found: list[tuple[str, Found]] = []
    wanted = [clean(name) for name in names]
    query = select(tables.series).where(columns.run.in_(list(serials)), columns.name.in_(wanted), is_of())
    rows = connection.execute(query.order_by(columns.run, columns.serial)).all()
    for run, of_run in groupby(rows, key=lambda row: row.run):
        found += [(serials[run], Found(run, group, None)) for group in _together(list(of_run), False).values()]
    return found


def contents(
    connection: Connection, metrics: Sequence[Found], buckets: int | None = None, window: Window | None = None
) -> list[Metric]:
    """Metrics with their points, in the order in which they first came. One of them at a time is in memory unpacked.
    With `buckets` and a `window`, a numeric series comes as the buckets of those points alone."""
    found = contents_by_serial(connection, metrics, buckets, window)
    return [found[serial] for serial in sorted(found)]


def contents_by_serial(
    connection: Connection, metrics: Sequence[Found], buckets: int | None = None, window: Window | None = None
) -> dict[int, Metric]:
    """The same by the number of each one's first series; what has no points is left out."""
    waiting = {row.serial: metric for metric in metrics for row in metric.rows}
    held: dict[int, list[list[Chunk]]] = {}
    found: dict[int, Metric] = {}
    for serial, pieces in _with_chunks(connection, metrics):
        metric = waiting[serial]
        first = metric.rows[0].serial
        held.setdefault(first, []).append(pieces)
        if len(held[first]) == len(metric.rows):
            found[first] = _content(metric, held.pop(first), buckets, window)
    return found


def is_of(source: str = "") -> ColumnElement[bool]:
    """Which series are those of one source, or what the run itself has logged."""
    columns = tables.series.c
    if source:
        return and_(columns.kind == VALUES, columns.type == source)
    return or_(columns.kind != VALUES, columns.type == "")


def _only_first(query: Select[Any], run: int, limit: int, source: str) -> Select[Any]:
    """The series of the metrics that came first, of whichever rank."""
    columns = tables.series.c
    of = (columns.kind, columns.type, columns.name)
    first = (
        select(*of)
        .where(columns.run == run, is_of(source))
        .group_by(*of)
        .order_by(func.min(columns.serial))
        .limit(limit)
    )
    wanted = first.subquery("wanted")
    return query.join(wanted, and_(*(column == wanted.c[column.name] for column in of)))


def _together(rows: Sequence[Row[Any]], by_rank: bool) -> dict[tuple[Any, ...], list[Row[Any]]]:
    """The series that are shown as one metric, each list in the order in which they first came."""
    found: dict[tuple[Any, ...], list[Row[Any]]] = {}
    for row in rows:
        found.setdefault(_metric_of(row, by_rank), []).append(row)
    return found


def _metric_of(row: Row[Any], by_rank: bool) -> tuple[Any, ...]:
    return (row.kind, row.type, row.name, row.rank if by_rank else None)


def _content(metric: Found, series: list[list[Chunk]], buckets: int | None, window: Window | None) -> Metric:
    row = metric.rows[0]
    points = sum(chunk.count for pieces in series for chunk in pieces)
    head = metric.head(points)
    if metric.is_thinned and any(chunk.encoding == thinning.THINNED for pieces in series for chunk in pieces):
        return {**head, **_left([chunk for pieces in series for chunk in pieces], buckets)}
    if buckets is not None and points > buckets:
        if row.kind == VALUES and all(chunk.is_numeric for pieces in series for chunk in pieces):
            if window is not None:
                first, until = _clamped(window, points)
                found = downsampled(merged(series), until - first, buckets, first)
                return {**head, "first": first, "buckets": found}
            return {**head, "buckets": downsampled(merged(series), points, buckets)}
        return {**head, **_last(_points(row, _newest(list(merged(series)), buckets)), buckets)}
    return {**head, **_points(row, list(merged(series)))}


def _clamped(window: Window, points: int) -> tuple[int, int]:
    """A window within a series of so many points, of one point at least."""
    first = min(window[0], points - 1)
    return first, max(first + 1, points if window[1] is None else min(window[1], points))


def _left(pieces: Iterable[Chunk], buckets: int | None) -> Metric:
    """What is left of a thinned series: its buckets, or the last point of each."""
    found = [bucket for chunk in pieces for bucket in thinning.buckets_of(chunk)]
    if buckets is not None:
        return {"buckets": thinning.regrouped(found, buckets)}
    found = thinning.regrouped(found, len(found))
    steps = [bucket["step_last"] for bucket in found]
    return {
        "values": [bucket["last"] for bucket in found],
        "steps": steps if any(step is not None for step in steps) else None,
        "times": [bucket["time_last"] for bucket in found],
    }


def _points(row: Row[Any], pieces: list[Chunk]) -> Metric:
    if row.kind == TABLE:
        return {"columns": _columns(pieces)}
    values = [value for chunk in pieces for value in chunks.values_of(chunk)]
    if row.kind == FILE:
        return {"type": row.type, "values": values}
    steps: list[int | None] | None = None
    if any(chunk.steps is not None for chunk in pieces):
        steps = [step for chunk in pieces for step in chunks.steps_of(chunk)]
    return {"values": values, "steps": steps, "times": [time for chunk in pieces for time in chunks.times_of(chunk)]}


def _newest(pieces: list[Chunk], count: int) -> list[Chunk]:
    """The last chunks, as many as hold so many points."""
    held = 0
    for position in range(len(pieces) - 1, -1, -1):
        held += pieces[position].count
        if held >= count:
            return pieces[position:]
    return pieces


def _last(content: Metric, count: int) -> Metric:
    """The content of a metric with its last values or rows only."""
    if "columns" in content:
        return {"columns": {name: column[-count:] for name, column in content["columns"].items()}}
    return {name: part[-count:] if isinstance(part, list) else part for name, part in content.items()}


def _columns(pieces: Iterable[Chunk]) -> dict[str, list[Any]]:
    """The rows by column. A row that lacks a column has null there, so that the rows stay in line."""
    columns: dict[str, list[Any]] = {}
    rows = 0
    for chunk in pieces:
        for piece in chunks.pieces_of(chunk):
            length = len(next(iter(piece.values())))
            for name in piece:
                if name not in columns:
                    columns[name] = [None] * rows
            for name, column in columns.items():
                column.extend(piece.get(name) or [None] * length)
            rows += length
    return columns


def _with_chunks(connection: Connection, metrics: Sequence[Found]) -> Iterator[tuple[int, list[Chunk]]]:
    """Each series that has chunks, with all of them."""
    serials = sorted(row.serial for metric in metrics for row in metric.rows)
    wanted = set(serials)
    query = select(tables.chunks).order_by(tables.chunks.c.series, tables.chunks.c.ordinal)
    if len(serials) > FEW and len({metric.run for metric in metrics}) == 1:
        of_run = and_(tables.series.c.run == metrics[0].run, tables.series.c.serial.between(serials[0], serials[-1]))
        parts = [query.join(tables.series).where(of_run)]
    else:
        parts = [query.where(tables.chunks.c.series.in_(some)) for some in slices(serials, FEW)]
    for part in parts:
        for serial, found in groupby(connection.execute(part), key=lambda row: row.series):
            if serial in wanted:
                yield serial, [_chunk(row) for row in found]


def chunks_of(connection: Connection, series: int) -> Iterator[Chunk]:
    """The chunks of one series, a few in memory at a time."""
    query = select(tables.chunks).where(tables.chunks.c.series == series).order_by(tables.chunks.c.ordinal)
    yield from map(_chunk, connection.execute(query, execution_options={"yield_per": 16}))


def _ensure(connection: Connection, run: int, wanted: list[SeriesName], rank: int | None) -> dict[SeriesName, Row[Any]]:
    """The rows of the series, in this order; made where they are not there."""
    identities = {_identity(name, rank): name for name in wanted}
    query = _BY_IDENTITY if len(wanted) <= 500 else _OF_RUN

    def there() -> dict[SeriesName, Row[Any]]:
        rows = connection.execute(query, {"of": run, "identities": list(identities)})
        return {identities[identity]: row for row in rows if (identity := bytes(row.identity)) in identities}

    found = there()
    fresh = [
        {"run": run, "identity": identity, **asdict(name), "rank": rank, "points": 0, "chunks": 0}
        for identity, name in identities.items()
        if name not in found
    ]
    if not fresh:
        return found
    _stand_for(connection, run, fresh)
    # Sorted, so that PostgreSQL numbers them in this order too.
    made = insert(tables.series).returning(tables.series.c.serial, sort_by_parameter_order=True)
    connection.execute(made, fresh)
    return there()


def _stand_for(connection: Connection, run: int, fresh: Sequence[dict[str, Any]]) -> None:
    """Lists of runs show and sort one series of each name: the first one, where several ranks log it. What is only
    observed of a run is in no list."""
    taken = set(map(bytes, connection.scalars(_STANDING, {"of": run})))
    experiment = connection.scalar(_EXPERIMENT, {"of": run})
    for row in fresh:
        name = fingerprint(row["name"])
        stands = row["kind"] == VALUES and not row["type"] and name not in taken
        row["sorted_as"], row["experiment"] = (name, experiment) if stands else (None, None)
        if stands:
            taken.add(name)


def _small_tails(connection: Connection, serials: list[int]) -> dict[int, Chunk]:
    """The last chunks of series, where they are small enough to take more points."""
    return {
        row.series: _chunk(row)
        for some in slices(serials)
        for row in connection.execute(_SMALL_TAILS, {"serials": some})
    }


def _describe(connection: Connection, run: int, texts: dict[str, str]) -> None:
    if not texts:
        return
    hashes = {fingerprint(name): name for name in texts}
    rows = tables.descriptions
    for some in slices(list(hashes)):
        connection.execute(delete(rows).where(rows.c.run == run, rows.c.name_hash.in_(some)))
    connection.execute(
        insert(rows),
        [{"run": run, "name_hash": key, "name": name, "text": texts[name]} for key, name in hashes.items()],
    )


def _descriptions(connection: Connection, run: int) -> dict[str, str]:
    query = select(tables.descriptions.c.name, tables.descriptions.c.text).where(tables.descriptions.c.run == run)
    return {row.name: row.text for row in connection.execute(query)}


def _identity(name: SeriesName, rank: int | None) -> bytes:
    place = () if rank is None else (str(rank),)
    return fingerprint(name.kind, name.type, name.name, *place)


def _stored(chunk: Chunk) -> Chunk:
    """Packed once it takes no more points: a chunk that grows would be packed for every batch."""
    return chunks.closed(chunk) if chunk.count >= chunks.SMALL else chunk


def _values(series: int, ordinal: int, chunk: Chunk) -> dict[str, Any]:
    return {"series": series, "ordinal": ordinal, **{name: getattr(chunk, name) for name in _FIELDS}}


def _chunk(row: Row[Any]) -> Chunk:
    return Chunk.of(row._mapping)


_FIELDS = tuple(Chunk.__dataclass_fields__)
