"""The secrets of workspaces: their names are in the database, their values in files that only the user can read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from sqlalchemy import Connection, delete, insert, select

from runyard.store.errors import NotFound, Refused
from runyard.store.runs import workspaces
from runyard.store.tables import workspace_secrets

NAME = re.compile(r"[0-9a-zA-Z-]{1,127}", re.ASCII)
"""How a secret may be called: Azure's rule."""

LARGEST = 25_000
"""Bytes of a value: Azure's rule."""


@dataclass(frozen=True)
class VaultSecret:
    """`key` names the file of the value (`runyard.store.content.secrets`)."""

    name: str
    key: str
    content_type: str
    updated_at: datetime


def check(name: str, value: str) -> None:
    """Refused when a secret cannot be called that, or is too long."""
    if not NAME.fullmatch(name):
        raise Refused("bad_name", "This is no name for a secret.", "Use 1 to 127 letters, digits or '-'.")
    if len(value.encode("utf-8", "surrogatepass")) > LARGEST or not value:
        raise Refused("bad_request", f"The value of {name!r} is empty or too long.", f"Use 1 to {LARGEST} bytes.")


def put(connection: Connection, workspace: str, name: str, key: str, content_type: str) -> str | None:
    """Store which file has the value of a secret; returns the file that had it before."""
    here = workspaces.serial(connection, workspace)
    same = (workspace_secrets.c.workspace == here) & (workspace_secrets.c.name == name)
    before: str | None = connection.scalar(select(workspace_secrets.c.key).where(same))
    connection.execute(delete(workspace_secrets).where(same))
    now = datetime.now(timezone.utc)
    row = {"workspace": here, "name": name, "key": key, "content_type": content_type, "updated_at": now}
    connection.execute(insert(workspace_secrets).values(row))
    return before


def find(connection: Connection, workspace: str) -> Sequence[VaultSecret]:
    """The secrets of a workspace, by name."""
    here = workspaces.serial(connection, workspace)
    query = select(workspace_secrets).where(workspace_secrets.c.workspace == here).order_by(workspace_secrets.c.name)
    return [VaultSecret(row.name, row.key, row.content_type, row.updated_at) for row in connection.execute(query)]


def get(connection: Connection, workspace: str, name: str) -> VaultSecret:
    for each in find(connection, workspace):
        if each.name == name:
            return each
    raise NotFound(
        "secret_not_found",
        f"There is no secret of that name in the workspace {workspace!r}.",
        "`runyard secret ls` lists the names; `runyard secret set NAME` makes one.",
    )


def remove(connection: Connection, workspace: str, name: str) -> VaultSecret:
    """Forget a secret; returns what it was."""
    found = get(connection, workspace, name)
    here = workspaces.serial(connection, workspace)
    connection.execute(
        delete(workspace_secrets).where(workspace_secrets.c.workspace == here, workspace_secrets.c.name == name)
    )
    return found
