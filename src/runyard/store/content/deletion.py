"""Deleting for good: the rows of runs and models, and every object and log that nothing else uses.

Rows go first, in one transaction; then each object is removed under the write lock if no row names it (any more). What
a crash leaves in between has no row: `sweeping` finds it.

Bytes freed are the bytes of the objects and growing files that were removed, and of the packed metrics. The rest of the
rows is small and not counted. An SQLite file shrinks later (`runyard.store.compaction`): the space in it is used again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, func, select, union

from runyard.contracts import states
from runyard.store import after_commit, tables
from runyard.store.content import build_contexts, usage
from runyard.store.errors import Conflict
from runyard.store.runs import experiments, runs, workspaces
from runyard.store.runs import ids as run_ids
from runyard.store.slices import slices
from runyard.store.store import Store

AT_ONCE = 200
"""Objects that are cleared away in one transaction, before other writers get their turn."""


@dataclass(frozen=True)
class Freed:
    runs: int = 0
    experiments: int = 0
    objects: int = 0
    bytes_freed: int = 0

    def __add__(self, other: Freed) -> Freed:
        return Freed(
            self.runs + other.runs,
            self.experiments + other.experiments,
            self.objects + other.objects,
            self.bytes_freed + other.bytes_freed,
        )


@dataclass
class _Left:
    """What deleted rows have left behind."""

    digests: set[str] = field(default_factory=set)
    growing: list[int] = field(default_factory=list)
    metric_bytes: int = 0


def delete_runs(store: Store, run_ids: Iterable[str]) -> Freed:
    """Delete runs with their descendants. Conflict `run_active` while one of them goes on; nothing is deleted then."""
    with store.database.write() as connection:
        serials: dict[int, None] = {}
        for run_id in run_ids:
            serials[runs.serial_of(connection, run_id)] = None
            serials.update(dict.fromkeys(_serials(connection, runs.descendants(connection, run_id))))
        _refuse_active(connection, list(serials), "run_active")
        left = _delete_rows(connection, list(serials))
    return Freed(runs=len(serials)) + _clear(store, left)


def delete_experiment(store: Store, id: str) -> Freed:
    """Delete an experiment with its runs. Conflict `experiment_active` while one of them goes on."""
    with store.database.write() as connection:
        experiments.get(connection, id)
        here = select(tables.experiments.c.serial).where(tables.experiments.c.id == id).scalar_subquery()
        serials = list(connection.scalars(select(tables.runs.c.serial).where(tables.runs.c.experiment == here)))
        _refuse_active(connection, serials, "experiment_active")
        left = _delete_rows(connection, serials)
        connection.execute(delete(tables.experiments).where(tables.experiments.c.id == id))
    return Freed(runs=len(serials), experiments=1) + _clear(store, left)


def delete_workspace(store: Store, name: str) -> Freed:
    """Delete a workspace with all that is in it. Conflict `run_active` while a run of it goes on."""
    with store.database.write() as connection:
        here = workspaces.serial(connection, name)
        serials = list(connection.scalars(select(tables.runs.c.serial).where(tables.runs.c.workspace == here)))
        _refuse_active(connection, serials, "run_active")
        left = _delete_rows(connection, serials)
        left.digests.update(connection.scalars(select(tables.wheels.c.digest).where(tables.wheels.c.workspace == here)))
        contexts = _contexts(connection, here)
        contexts += connection.scalars(select(tables.models.c.tree).where(tables.models.c.workspace == here))
        count = connection.execute(delete(tables.experiments).where(tables.experiments.c.workspace == here)).rowcount
        connection.execute(delete(tables.workspaces).where(tables.workspaces.c.serial == here))
        left.digests |= release_snapshots(connection, contexts)
    return Freed(runs=len(serials), experiments=count) + _clear(store, left)


def delete_unused_snapshots(connection: Connection, before: datetime) -> set[str]:
    """Delete the snapshots that were taken before a moment and never run; returns the objects that they named."""
    return _delete_snapshots(connection, tables.snapshots.c.created_at <= before)


def release_snapshots(connection: Connection, ids: Sequence[str]) -> set[str]:
    """Delete those of some snapshots that nothing uses (any more); returns the objects that they named, which are to
    be cleared after the transaction (`clear_objects`)."""
    digests: set[str] = set()
    for some in slices(ids):
        digests |= _delete_snapshots(connection, tables.snapshots.c.id.in_(some))
    return digests


def clear_objects(store: Store, digests: set[str]) -> Freed:
    """Remove those objects that no row names (any more)."""
    return _clear(store, _Left(digests=digests))


def clear_unnamed(store: Store, digests: set[str], clear: Callable[[str], int | None]) -> tuple[int, int]:
    """Clear away those objects that no row names, each by a function that returns its size, or None where it leaves
    the object. Returns how many were cleared away, and their bytes."""
    objects = size = 0
    for some in slices(sorted(digests), AT_ONCE):
        with store.database.write() as connection:
            for digest in after_commit.unnamed(connection, some):
                cleared = clear(digest)
                if cleared is not None:
                    objects, size = objects + 1, size + cleared
    return objects, size


def _serials(connection: Connection, run_ids: Sequence[str]) -> list[int]:
    found: list[int] = []
    for some in slices(run_ids):
        found.extend(connection.scalars(select(tables.runs.c.serial).where(tables.runs.c.id.in_(some))))
    return found


def _refuse_active(connection: Connection, serials: Sequence[int], code: str) -> None:
    for some in slices(serials):
        query = select(tables.runs.c.id, tables.runs.c.status).where(
            tables.runs.c.serial.in_(some), tables.runs.c.status.not_in(sorted(states.TERMINAL))
        )
        row = connection.execute(query.limit(1)).first()
        if row is not None:
            raise Conflict(
                code,
                f"The run {row.id!r} goes on ({row.status}).",
                f"Stop it first (`runyard stop {row.id}`), then delete.",
                {"run": row.id, "status": row.status},
            )


def _delete_rows(connection: Connection, serials: Sequence[int]) -> _Left:
    """Delete the rows of runs; the rows that belong to them go with them, snapshots that no other run uses as well."""
    left = _Left()
    snapshots: set[str] = set()
    run_ids.retire(connection, serials)
    for some in slices(serials):
        files = select(tables.files.c.serial, tables.files.c.digest).where(tables.files.c.run.in_(some))
        for serial, digest in connection.execute(files):
            if digest is None:
                left.growing.append(serial)
            else:
                left.digests.add(digest)
        left.metric_bytes += _metric_bytes(connection, some)
        used = union(
            select(tables.runs.c.snapshot_id).where(tables.runs.c.serial.in_(some)),
            select(tables.launches.c.context).where(tables.launches.c.run.in_(some)),
        )
        snapshots.update(id for id in connection.scalars(used) if id is not None)
        connection.execute(delete(tables.runs).where(tables.runs.c.serial.in_(some)))
    after_commit.serials(connection).clear()
    left.digests |= release_snapshots(connection, sorted(snapshots))
    return left


def _contexts(connection: Connection, workspace: int) -> list[str]:
    """The snapshots that the environments of a workspace are built from."""
    named = union(
        *(
            select(table.c.context).where(table.c.workspace == workspace, table.c.context.is_not(None))
            for table in (tables.environments, tables.environment_maps)
        )
    )
    return list(connection.scalars(named))


def _metric_bytes(connection: Connection, serials: Sequence[int]) -> int:
    query = select(func.sum(usage.packed())).select_from(tables.chunks).join(tables.series)
    return int(connection.scalar(query.where(tables.series.c.run.in_(serials))) or 0)


def _delete_snapshots(connection: Connection, which: ColumnElement[bool]) -> set[str]:
    """Delete those of the snapshots that nothing uses; returns the objects that they named."""
    unused = select(tables.snapshots.c.serial).where(which, ~build_contexts.snapshot_is_used())
    digests: set[str] = set()
    for some in slices(list(connection.scalars(unused))):
        named = select(tables.snapshot_objects.c.digest).where(tables.snapshot_objects.c.snapshot.in_(some))
        digests.update(connection.scalars(named))
        connection.execute(delete(tables.snapshots).where(tables.snapshots.c.serial.in_(some)))
    return digests


def _clear(store: Store, left: _Left) -> Freed:
    """Remove the files that deleted rows have left, where no other row names them (or is about to)."""
    objects, freed = clear_unnamed(store, left.digests, store.objects.discard)
    freed += sum(store.growing.remove(key) for key in left.growing)
    return Freed(objects=objects, bytes_freed=freed + left.metric_bytes)
