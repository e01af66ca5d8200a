"""Many small chunks of a series become few large ones: points that trickle in are packed best when there are thousands.

A window is a fixed number of ordinals. Once a chunk of the next window is written, those of the one before do not
change any more and are merged. The ordinals of merged chunks stay unused, so the end of a series is where it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, or_, select

from runyard.contracts import states
from runyard.store import tables
from runyard.store.database import Database
from runyard.store.metrics import chunks
from runyard.store.metrics.chunks import Chunk
from runyard.store.metrics.thinning import THINNED
from runyard.store.slices import slices

WINDOW = 16
LARGE = 1024
"""A chunk with so many points is left as it is: to pack it again would cost more than the space is worth."""

MOST = 16384
"""Points in a chunk that others were merged into: what a reader unpacks at once."""

_WINDOW = (
    select(tables.chunks)
    .where(
        tables.chunks.c.series == bindparam("of"), tables.chunks.c.ordinal.between(bindparam("from"), bindparam("to"))
    )
    .order_by(tables.chunks.c.ordinal)
)


def is_due(ordinal: int) -> bool:
    """Whether a chunk with this ordinal begins another window."""
    return ordinal > 0 and ordinal % WINDOW == 0


def merge_window(connection: Connection, series: int, ordinal: int) -> None:
    """Merge the window before the one that begins with this ordinal."""
    _merge(connection, series, ordinal - WINDOW, ordinal - 1)


def merge_ended(database: Database, since: datetime, until: datetime) -> int:
    """Merge the chunks of all runs that ended between these moments; how many series changed. Each has a transaction
    of its own. Give late deliveries some time before."""
    query = (
        select(tables.series.c.serial)
        .join(tables.runs)
        .where(
            tables.runs.c.ended_at.between(since, until),
            tables.runs.c.status.in_(sorted(states.TERMINAL)),
            select(1).where(tables.chunks.c.series == tables.series.c.serial, _can_be_merged()).exists(),
        )
    )
    with database.read() as connection:
        found = list(connection.scalars(query))
    changed = 0
    for serial in found:
        with database.write() as connection:
            changed += _merge(connection, serial, 0, None)
    return changed


def _can_be_merged() -> Any:
    """A chunk that is open, or small and not the only one."""
    small = tables.chunks.c.count < LARGE
    return or_(tables.chunks.c.encoding.in_(["d", "n", "j", "t"]), small & (tables.series.c.chunks > 1))


def _merge(connection: Connection, series: int, start: int, end: int | None) -> bool:
    """Merge neighbours among the chunks; whether there was anything to do."""
    rows = connection.execute(_WINDOW, {"of": series, "from": start, "to": 2**62 if end is None else end})
    changed = False
    for group in _groups((row.ordinal, Chunk.of(row._mapping)) for row in rows):
        ordinals, pieces = zip(*group, strict=True)
        if len(pieces) == 1 and pieces[0].is_closed:
            continue
        changed = True
        for some in slices(ordinals):
            connection.execute(
                delete(tables.chunks).where(tables.chunks.c.series == series, tables.chunks.c.ordinal.in_(some))
            )
        connection.execute(insert(tables.chunks), {"series": series, "ordinal": ordinals[0], **vars(together(pieces))})
    return changed


def _groups(found: Iterable[tuple[int, Chunk]]) -> Iterator[list[tuple[int, Chunk]]]:
    """Neighbours that are to be one chunk. A large one stays alone."""
    group: list[tuple[int, Chunk]] = []
    points = 0
    for ordinal, chunk in found:
        is_large = chunk.count >= LARGE or chunk.encoding == THINNED
        if group and (is_large or points + chunk.count > MOST):
            yield group
            group, points = [], 0
        group.append((ordinal, chunk))
        points += chunk.count
        if is_large:
            yield group
            group, points = [], 0
    if group:
        yield group


def together(several: Sequence[Chunk]) -> Chunk:
    """One closed chunk with the points of several."""
    if len(several) == 1:
        return chunks.closed(several[0])
    first, *rest = map(chunks.opened, several)
    if all(chunk.encoding == first.encoding for chunk in rest):
        for chunk in rest:
            first = first.joined(chunk)
        return chunks.closed(first)
    values: list[Any] = []
    times: list[float] = []
    steps: list[int | None] = []
    for chunk in several:
        values += chunks.values_of(chunk)
        times += chunks.times_of(chunk)
        steps += chunks.steps_of(chunk)
    return chunks.closed(chunks.pack(values, times, steps))
