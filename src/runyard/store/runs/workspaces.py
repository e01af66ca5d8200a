"""Workspaces: what a server's experiments are grouped by, each known by its name."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select
from sqlalchemy import update as update_

from runyard.contracts import names
from runyard.store import damage
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.prepared import Prepared
from runyard.store.tables import runs, workspaces

DEFAULT = "local"
NO_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"

Tags = Mapping[str, "str | None"]

_SERIAL = Prepared(select(workspaces.c.serial).where(workspaces.c.name == bindparam("name")))
_NAMED = Prepared(select(workspaces).where(workspaces.c.name == bindparam("name")))


@dataclass(frozen=True)
class Workspace:
    name: str
    id: str
    subscription_id: str
    resource_group: str
    location: str
    friendly_name: str | None
    description: str | None
    tags: dict[str, str | None]
    created_at: datetime


def create(
    connection: Connection,
    name: str,
    subscription_id: str,
    resource_group: str,
    location: str | None = None,
    friendly_name: str | None = None,
    description: str | None = None,
    tags: Tags | None = None,
    exist_ok: bool = False,
) -> Workspace:
    """Make a workspace. With `exist_ok`, one of that name that is there already is given back as it is."""
    try:
        names.check("workspace", name)
    except names.BadName as error:
        raise Refused("bad_name", str(error)) from error
    row = _NAMED.first(connection, {"name": name})
    if row is not None:
        if not exist_ok:
            raise Conflict(
                "workspace_exists",
                f"There is a workspace {name!r} already.",
                "Use it (`Workspace.get`, or `exist_ok=True`), or choose another name.",
            )
        return _workspace(row)
    connection.execute(
        insert(workspaces).values(
            id=str(uuid.uuid4()),
            name=name,
            subscription_id=subscription_id,
            resource_group=resource_group,
            location=location or DEFAULT,
            friendly_name=friendly_name,
            description=description,
            tags=dict(tags or {}),
            created_at=datetime.now(timezone.utc),
        )
    )
    return get(connection, name)


def ensure_default(connection: Connection) -> Workspace:
    """The workspace that is there from the first start."""
    return create(connection, DEFAULT, NO_SUBSCRIPTION, DEFAULT, exist_ok=True)


def get(connection: Connection, name: str) -> Workspace:
    row = _NAMED.first(connection, {"name": name})
    if row is None:
        raise _not_found(name)
    return _workspace(row)


def serial(connection: Connection, name: str) -> int:
    """The number by which rows refer to a workspace."""
    found: int | None = _SERIAL.scalar(connection, {"name": name})
    if found is None:
        raise _not_found(name)
    return found


def find(connection: Connection) -> list[Workspace]:
    """All of them, oldest first."""
    query = select(workspaces).order_by(workspaces.c.serial)
    return [_workspace(row) for row in damage.rows(connection, query, workspaces.c.serial, workspaces.c.name)]


def latest(connection: Connection) -> str:
    """The name of the one with the newest run, or of the one that is always there."""
    query = select(workspaces.c.name).join(runs, runs.c.workspace == workspaces.c.serial)
    name: str | None = connection.scalar(query.order_by(runs.c.serial.desc()).limit(1))
    return name or DEFAULT


def update(
    connection: Connection,
    name: str,
    friendly_name: str | None = None,
    description: str | None = None,
    tags: Tags | None = None,
) -> Workspace:
    """Change what is not None; `tags` replaces all of them."""
    changes = {
        "friendly_name": friendly_name,
        "description": description,
        "tags": None if tags is None else dict(tags),
    }
    changed = {column: value for column, value in changes.items() if value is not None}
    if changed:
        connection.execute(update_(workspaces).where(workspaces.c.name == name).values(changed))
    return get(connection, name)


def _not_found(name: str) -> NotFound:
    return NotFound(
        "workspace_not_found",
        f"There is no workspace {name!r}.",
        "`Workspace.list` names the workspaces; `Workspace.create` makes one.",
    )


def _workspace(row: Any) -> Workspace:
    return Workspace(
        row.name,
        row.id,
        row.subscription_id,
        row.resource_group,
        row.location,
        row.friendly_name,
        row.description,
        row.tags,
        row.created_at,
    )
