"""Build contexts: snapshots that images are built from. One that an environment, a map or a run names stays."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, or_, select

from runyard.store.errors import NotFound
from runyard.store.tables import environment_maps, environments, launches, models, runs, service_revisions, snapshots

_ADDRESS = re.compile(r"runyard://snapshots/([0-9a-f]{64})/?")


def of_definition(connection: Connection, definition: Mapping[str, Any]) -> str | None:
    """The snapshot that the image of an SDK v1 definition is built from. NotFound when it is not there."""
    context = (definition.get("docker") or {}).get("buildContext") or {}
    return named(connection, context.get("location"))


def of_launch(connection: Connection, launch: Mapping[str, Any] | None) -> str | None:
    """The snapshot that the image of a run is built from. NotFound when it is not there."""
    return named(connection, ((launch or {}).get("environment") or {}).get("context"))


def named(connection: Connection, location: object) -> str | None:
    """The snapshot at an address; None for an address of another kind, such as a Git repository."""
    found = _ADDRESS.fullmatch(location) if isinstance(location, str) else None
    if found is None:
        return None
    if connection.scalar(select(snapshots.c.serial).where(snapshots.c.id == found[1])) is None:
        raise NotFound(
            "snapshot_not_found",
            f"There is no snapshot {found[1]!r}, which the environment names as its build context.",
            "Send it first.",
        )
    return found[1]


def snapshot_is_used() -> ColumnElement[bool]:
    """The condition that something needs a row of the snapshots: the code of a run or a service, what an image is built
    from, or the files of a model."""
    return or_(
        exists().where(runs.c.snapshot_id == snapshots.c.id),
        exists().where(launches.c.context == snapshots.c.id),
        exists().where(environments.c.context == snapshots.c.id),
        exists().where(environment_maps.c.context == snapshots.c.id),
        exists().where(service_revisions.c.snapshot_id == snapshots.c.id),
        exists().where(service_revisions.c.context == snapshots.c.id),
        exists().where(models.c.tree == snapshots.c.id),
    )
