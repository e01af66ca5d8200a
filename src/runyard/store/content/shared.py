"""Which snapshots and wheels belong to a workspace: content is stored once for all, by its hash, and a run may fetch
what its own workspace holds."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import ColumnElement, Connection, exists, or_, select

from runyard.store.runs import workspaces
from runyard.store.slices import slices
from runyard.store.tables import environments, launches, models, runs, snapshot_objects, snapshots, wheels


def has_snapshot(connection: Connection, workspace: str, id: str) -> bool:
    """Whether a run of the workspace has this code, an image in it is built from this folder, or a model has these
    files."""
    here = workspaces.serial(connection, workspace)
    return connection.scalar(select(snapshots.c.serial).where(snapshots.c.id == id, _in_use(here))) is not None


def held(connection: Connection, workspace: str, digests: Iterable[str]) -> set[str]:
    """Those of some contents that are in a snapshot or a wheel of the workspace."""
    here = workspaces.serial(connection, workspace)
    found: set[str] = set()
    for some in slices(list(digests)):
        found.update(
            connection.scalars(
                select(snapshot_objects.c.digest)
                .where(
                    snapshot_objects.c.digest.in_(some),
                    exists().where(snapshots.c.serial == snapshot_objects.c.snapshot, _in_use(here)),
                )
                .distinct()
            )
        )
        named = select(wheels.c.digest).where(wheels.c.workspace == here, wheels.c.digest.in_(some))
        found.update(connection.scalars(named))
    return found


def _in_use(workspace: int) -> ColumnElement[bool]:
    """The condition that something in a workspace needs a row of the snapshots."""
    built = select(launches.c.run).join(runs, runs.c.serial == launches.c.run)
    return or_(
        exists().where(runs.c.snapshot_id == snapshots.c.id, runs.c.workspace == workspace),
        exists(built.where(launches.c.context == snapshots.c.id, runs.c.workspace == workspace)),
        exists().where(environments.c.context == snapshots.c.id, environments.c.workspace == workspace),
        exists().where(models.c.tree == snapshots.c.id, models.c.workspace == workspace),
    )
