"""Datastores: named places of data. The files in them are not touched here, and secrets are known by their names only.

Every workspace has `workspaceblobstore` and `workspacefilestore` without a row in the table: where their folders are is
the server's to say.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from runyard.contracts.data import datastores as contract
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import workspace_settings, workspaces
from runyard.store.tables import dataset_versions, datasets, datastores


@dataclass(frozen=True)
class Datastore:
    """A named place. `secrets` are the names under which the values of its secrets are kept, by what they are for."""

    name: str
    kind: str
    settings: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    created_at: datetime | None = None
    default: bool = False

    @property
    def own(self) -> bool:
        """Whether it is one of those that every workspace has."""
        return self.name in contract.OWN


def register(
    connection: Connection,
    workspace: str,
    name: str,
    kind: str,
    settings: Mapping[str, Any],
    secrets: Mapping[str, str],
    overwrite: bool = False,
) -> Datastore:
    """Register a datastore; Conflict `datastore_exists` when the name is taken and is not to be overwritten."""
    name = checked(name)
    try:
        stored = contract.check(kind, settings, secrets)
    except contract.BadDatastore as error:
        raise Refused("bad_datastore", error.message, error.help) from None
    if name in contract.OWN:
        raise Conflict("datastore_exists", f"Every workspace has a datastore {name!r} of its own.", "Use another name.")
    here = workspaces.serial(connection, workspace)
    before = connection.execute(select(datastores.c.name).where(_named(here, name))).first()
    values = {"kind": kind, "settings": stored, "secrets": dict(secrets), "created_at": datetime.now(timezone.utc)}
    if before is None:
        connection.execute(insert(datastores).values(workspace=here, name=name, **values))
    elif overwrite:
        connection.execute(update(datastores).where(_named(here, name)).values(**values))
    else:
        raise Conflict(
            "datastore_exists",
            f"There is a datastore {name!r} in the workspace {workspace!r} already.",
            "Register with overwrite=True, or under another name.",
            {"name": name},
        )
    return get(connection, workspace, name)


def find(connection: Connection, workspace: str) -> list[Datastore]:
    """All datastores of a workspace, by name; exactly one is the default."""
    here = workspaces.serial(connection, workspace)
    rows = connection.execute(select(datastores).where(datastores.c.workspace == here)).all()
    found = {each: Datastore(each, contract.FOLDER) for each in contract.OWN}
    for row in rows:
        found[row.name] = Datastore(row.name, row.kind, row.settings, row.secrets, row.created_at)
    wanted = workspace_settings.find(connection, workspace)[workspace_settings.DATASTORE]
    usual = wanted if wanted in found else contract.BLOB_STORE
    found[usual] = replace(found[usual], default=True)
    return [found[name] for name in sorted(found)]


def get(connection: Connection, workspace: str, name: str) -> Datastore:
    """One datastore by its name, whatever the case."""
    return _one(find(connection, workspace), workspace, checked(name))


def default(connection: Connection, workspace: str) -> Datastore:
    return next(each for each in find(connection, workspace) if each.default)


def set_default(connection: Connection, workspace: str, name: str) -> Datastore:
    """Make a datastore the one that is used where none is named."""
    wanted = get(connection, workspace, name)
    workspace_settings.put(connection, workspace, workspace_settings.DATASTORE, wanted.name)
    return get(connection, workspace, name)


def unregister(connection: Connection, workspace: str, name: str) -> list[str]:
    """Forget a datastore; its files stay. Returns the registered datasets that name it."""
    found = get(connection, workspace, name)
    if found.own:
        raise Refused("bad_datastore", f"The datastore {found.name!r} belongs to the workspace, and stays with it.")
    here = workspaces.serial(connection, workspace)
    connection.execute(delete(datastores).where(_named(here, found.name)))
    return users(connection, here, found.name)


def users(connection: Connection, here: int, name: str) -> list[str]:
    """The names of the registered datasets with a source in a datastore."""
    rows = connection.execute(
        select(dataset_versions.c.name, datasets.c.definition)
        .join_from(dataset_versions, datasets, dataset_versions.c.dataset == datasets.c.serial)
        .where(dataset_versions.c.workspace == here)
    )
    using = {
        row.name
        for row in rows
        if any(str(source.get("datastore", "")).lower() == name for source in row.definition.get("sources", ()))
    }
    return sorted(using)


def checked(name: str) -> str:
    try:
        return contract.check_name(name)
    except contract.BadDatastore as error:
        raise Refused("bad_datastore", error.message, error.help) from None


def _one(found: list[Datastore], workspace: str, name: str) -> Datastore:
    for each in found:
        if each.name == name:
            return each
    near = difflib.get_close_matches(name, [each.name for each in found], 3)
    said = ", ".join(repr(each) for each in near)
    raise NotFound(
        "datastore_not_found",
        f"There is no datastore {name[:80]!r} in the workspace {workspace!r}.",
        f"There is {said}." if near else "`runyard datastore ls` lists those there are.",
        {"name": name},
    )


def _named(here: int, name: str) -> Any:
    return (datastores.c.workspace == here) & (datastores.c.name == name)
