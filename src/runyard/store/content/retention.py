"""Retention: what is dropped of runs that ended long ago, so that their rows, files and summaries can stay for good.

Of logs a list of their names stays. Of a series of numbers a curve of buckets stays, with every extreme; of any other
metric the last values or rows. A run with the tag `keep`, or whose topmost run has it, is left as it is. How old a run
must be is a setting of its workspace (`retention.logs`, `retention.series`); nothing is dropped where none is set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from sqlalchemy import ColumnElement, Connection, Select, delete, exists, func, insert, or_, select, update

from runyard.contracts import states
from runyard.contracts.history import LOG_PREFIXES
from runyard.store import tables
from runyard.store.content import deletion, files, usage
from runyard.store.metrics import chunks, series, thinning
from runyard.store.metrics.batches import FILE, VALUES
from runyard.store.metrics.chunks import Chunk
from runyard.store.runs import labels, workspace_settings, workspaces
from runyard.store.slices import slices
from runyard.store.store import Store

LOGS, SERIES = files.LOGS, "series"
KINDS = (LOGS, SERIES)
KEEP = "keep"
"""The tag of runs that are left as they are."""

AT_ONCE = 100
"""Runs that one call goes through, so that its caller can show how far it is."""

_RUNS, _FILES, _SERIES = tables.runs.c, tables.files.c, tables.series.c


@dataclass(frozen=True)
class Amount:
    runs: int = 0
    bytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.runs + other.runs, self.bytes + other.bytes)


def ages(settings: Mapping[str, str]) -> dict[str, timedelta]:
    """How old a run must be before this is dropped of it; nothing for what stays for ever."""
    found = {kind: workspace_settings.age(settings[f"retention.{kind}"]) for kind in KINDS}
    return {kind: age for kind, age in found.items() if age is not None}


def would_free(connection: Connection, workspace: str, kind: str, age: timedelta) -> Amount:
    """How many runs have something to be dropped, and its bytes. Of series, what is left of them counts as well."""
    due = _due(connection, workspace, kind, age).subquery()
    here = _RUNS.serial.in_(select(due.c.serial))
    if kind == LOGS:
        query = select(func.count(_FILES.run.distinct()), func.sum(_FILES.size)).join(tables.runs)
        row = connection.execute(query.where(here, _is_log())).one()
    else:
        query = select(func.count(_SERIES.run.distinct()), func.sum(usage.packed())).select_from(tables.chunks)
        row = connection.execute(query.join(tables.series).join(tables.runs).where(here, _is_long())).one()
    return Amount(int(row[0]), int(row[1] or 0))


def apply(store: Store, workspace: str, kind: str, age: timedelta, most: int = AT_ONCE) -> tuple[Amount, bool]:
    """Drop what is due, of at most so many runs; returns what came free, and whether that was all."""
    with store.database.read() as connection:
        due = connection.execute(_due(connection, workspace, kind, age).order_by(_RUNS.serial).limit(most)).all()
    total = Amount()
    for row in due:
        freed = _drop_logs(store, row.serial) if kind == LOGS else _thin(store, row.serial)
        total += Amount(freed > 0, freed)
    return total, len(due) < most


def apply_all(store: Store) -> dict[str, Amount]:
    """Drop what is due in every workspace; returns what came free, by kind."""
    found = dict.fromkeys(KINDS, Amount())
    with store.database.read() as connection:
        everywhere = {each.name: workspace_settings.find(connection, each.name) for each in workspaces.find(connection)}
    for workspace, settings in everywhere.items():
        for kind, age in ages(settings).items():
            is_all = False
            while not is_all:
                freed, is_all = apply(store, workspace, kind, age)
                found[kind] += freed
    return found


def _due(connection: Connection, workspace: str, kind: str, age: timedelta) -> Select[tuple[int]]:
    before = datetime.now(timezone.utc) - age
    root = tables.runs.alias("root")
    is_done = exists().where(tables.dropped.c.run == _RUNS.serial, tables.dropped.c.kind == kind)
    return (
        select(_RUNS.serial)
        .outerjoin(root, root.c.id == _RUNS.root_id)
        .where(
            _RUNS.workspace == workspaces.serial(connection, workspace),
            _RUNS.status.in_(sorted(states.TERMINAL)),
            func.coalesce(_RUNS.ended_at, _RUNS.created_at) < before,
            ~is_done,
            ~_is_tagged(_RUNS.serial),
            ~_is_tagged(root.c.serial),
        )
    )


def _is_tagged(run: ColumnElement[int]) -> ColumnElement[bool]:
    label = tables.labels.c
    key = tables.fingerprint(KEEP)
    return exists().where(label.run == run, label.kind == labels.TAG, label.key_hash == key)


def _is_log() -> ColumnElement[bool]:
    """Whether a file is a log that is whole. One that still grows is delivered first."""
    is_below = [func.substr(_FILES.name, 1, len(prefix)) == prefix for prefix in LOG_PREFIXES]
    return or_(*is_below) & _FILES.digest.is_not(None)


def _is_long() -> ColumnElement[bool]:
    return (_SERIES.points > thinning.KEPT) & _SERIES.thinned_at.is_(None) & (_SERIES.kind != FILE)


def _drop_logs(store: Store, run: int) -> int:
    with store.database.write() as connection:
        rows = connection.execute(select(tables.files).where(_FILES.run == run, _is_log())).all()
        for some in slices([row.serial for row in rows]):
            connection.execute(delete(tables.files).where(_FILES.serial.in_(some)))
        _remember(connection, run, LOGS, sum(row.size for row in rows), [row.name for row in rows])
    _, freed = deletion.clear_unnamed(store, {row.digest for row in rows}, store.objects.discard)
    return freed


def _thin(store: Store, run: int) -> int:
    """Thin the long series of a run, each in a transaction of its own."""
    freed = 0
    with store.database.read() as connection:
        rows = connection.execute(select(tables.series).where(_SERIES.run == run, _is_long())).all()
    for row in rows:
        with store.database.read() as connection:
            before = list(series.chunks_of(connection, row.serial))
        after = _what_stays(before, row.kind)
        gained = sum(map(_size, before)) - sum(map(_size, after))
        if 2 * gained > sum(map(_size, before)):  # else what would be left is no smaller than what is there
            with store.database.write() as connection:
                freed += gained if _replace(connection, row.serial, row.points, after) else 0
    with store.database.write() as connection:
        _remember(connection, run, SERIES, freed, [])
    return freed


def _what_stays(before: Sequence[Chunk], kind: str) -> list[Chunk]:
    points = sum(chunk.count for chunk in before)
    if kind == VALUES and all(chunk.is_numeric for chunk in before):
        return [thinning.thinned(before, points)]
    return [chunks.closed(thinning.newest(before))] if before else []


def _replace(connection: Connection, serial: int, points: int, after: Sequence[Chunk]) -> bool:
    """Store what stays in place of all chunks; False when points have come meanwhile, or somebody else has."""
    is_same = (_SERIES.serial == serial, _SERIES.points == points, _SERIES.thinned_at.is_(None))
    change = update(tables.series).where(*is_same)
    changed = connection.execute(change.values(chunks=len(after), thinned_at=datetime.now(timezone.utc)))
    if not changed.rowcount:
        return False
    connection.execute(delete(tables.chunks).where(tables.chunks.c.series == serial))
    for ordinal, chunk in enumerate(after):
        connection.execute(insert(tables.chunks), {"series": serial, "ordinal": ordinal, **vars(chunk)})
    return True


def _size(chunk: Chunk) -> int:
    return len(chunk.times) + len(chunk.steps or b"") + len(chunk.values)


def _remember(connection: Connection, run: int, kind: str, freed: int, names: list[str]) -> None:
    """Note what was dropped, unless somebody who did the same at the same time has."""
    here = tables.dropped.c
    if connection.scalar(select(here.run).where(here.run == run, here.kind == kind)) is None:
        row = {"run": run, "kind": kind, "at": datetime.now(timezone.utc), "bytes": freed, "names": names}
        connection.execute(insert(tables.dropped), row)
