"""Datasets: definitions by id, and the names and versions that they are registered under. Files are not read here."""

from __future__ import annotations

import difflib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from runyard.contracts.data import datasets as contract
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import workspaces
from runyard.store.tables import dataset_versions, datasets

LONGEST_TEXT = 10_000
"""Characters of a description."""
MOST_TAGS = 500


@dataclass(frozen=True)
class Dataset:
    """A definition; name and version are None where it is not registered."""

    id: str
    definition: dict[str, Any]
    created_at: datetime
    name: str | None = None
    version: int | None = None
    description: str | None = None
    tags: dict[str, str] | None = None
    registered_at: datetime | None = None


def save(connection: Connection, workspace: str, definition: Mapping[str, Any]) -> Dataset:
    """Store a definition. The same one again is the same dataset."""
    try:
        contract.parse(definition)
    except contract.BadDefinition as error:
        raise Refused("bad_dataset", error.message, error.help) from None
    here = workspaces.serial(connection, workspace)
    made = dict(definition)
    same = (datasets.c.workspace == here) & (datasets.c.definition == made)
    found = connection.execute(select(datasets.c.id).where(same).limit(1)).scalar()
    if found is not None:
        return get(connection, workspace, found)
    now, id = datetime.now(timezone.utc), str(uuid.uuid4())
    connection.execute(insert(datasets).values(id=id, workspace=here, definition=made, created_at=now))
    return Dataset(id, made, now)


def register(
    connection: Connection,
    workspace: str,
    id: str,
    name: str,
    description: str | None = None,
    tags: Mapping[str, str] | None = None,
    create_new_version: bool = False,
) -> Dataset:
    """Register a dataset under a name; Conflict `dataset_exists` when it is taken and no new version is wanted."""
    _check(name, description, tags or {})
    here = workspaces.serial(connection, workspace)
    serial = connection.execute(
        select(datasets.c.serial).where(datasets.c.workspace == here, datasets.c.id == id)
    ).scalar()
    if serial is None:
        raise _no_id(workspace, id)
    last = connection.execute(select(func.max(dataset_versions.c.version)).where(_named(here, name))).scalar()
    if last is not None and not create_new_version:
        raise Conflict(
            "dataset_exists",
            f"There is a dataset {name!r} in the workspace {workspace!r} already.",
            "Register with create_new_version=True, or under another name.",
            {"name": name, "version": last},
        )
    connection.execute(
        insert(dataset_versions).values(
            workspace=here,
            name=name,
            version=(last or 0) + 1,
            dataset=serial,
            description=description,
            tags=dict(tags or {}),
            created_at=datetime.now(timezone.utc),
        )
    )
    return by_name(connection, workspace, name, (last or 0) + 1)


def get(connection: Connection, workspace: str, id: str) -> Dataset:
    """A dataset by its id, with the newest of the names that it is registered under."""
    here = workspaces.serial(connection, workspace)
    row = connection.execute(
        select(datasets.c.serial, datasets.c.id, datasets.c.definition, datasets.c.created_at).where(
            datasets.c.workspace == here, datasets.c.id == id
        )
    ).first()
    if row is None:
        raise _no_id(workspace, id)
    named = connection.execute(
        select(dataset_versions)
        .where(dataset_versions.c.workspace == here, dataset_versions.c.dataset == row.serial)
        .order_by(dataset_versions.c.created_at.desc(), dataset_versions.c.version.desc())
        .limit(1)
    ).first()
    if named is None:
        return Dataset(row.id, row.definition, row.created_at)
    texts = (named.name, named.version, named.description, named.tags, named.created_at)
    return Dataset(row.id, row.definition, row.created_at, *texts)


def by_name(connection: Connection, workspace: str, name: str, version: int | None = None) -> Dataset:
    """A version of a registered dataset, by default the latest."""
    here = workspaces.serial(connection, workspace)
    wanted = _registered().where(_named(here, name)).order_by(dataset_versions.c.version.desc()).limit(1)
    row = connection.execute(wanted if version is None else wanted.where(dataset_versions.c.version == version)).first()
    if row is None:
        raise _no_name(connection, workspace, here, name, version)
    return _dataset(row)


def versions(connection: Connection, workspace: str, name: str) -> list[Dataset]:
    """All versions of a name, newest first."""
    here = workspaces.serial(connection, workspace)
    rows = connection.execute(_registered().where(_named(here, name)).order_by(dataset_versions.c.version.desc())).all()
    if not rows:
        raise _no_name(connection, workspace, here, name, None)
    return [_dataset(row) for row in rows]


def latest(connection: Connection, workspace: str) -> list[Dataset]:
    """The latest version of each name, by name."""
    here = workspaces.serial(connection, workspace)
    newest = (
        select(dataset_versions.c.name, func.max(dataset_versions.c.version).label("version"))
        .where(dataset_versions.c.workspace == here)
        .group_by(dataset_versions.c.name)
        .subquery()
    )
    rows = connection.execute(
        _registered()
        .join(newest, (newest.c.name == dataset_versions.c.name) & (newest.c.version == dataset_versions.c.version))
        .where(dataset_versions.c.workspace == here)
        .order_by(dataset_versions.c.name)
    ).all()
    return [_dataset(row) for row in rows]


def change(
    connection: Connection,
    workspace: str,
    name: str,
    version: int,
    description: str | None = None,
    tags: Mapping[str, str] | None = None,
) -> Dataset:
    """Change the description or the tags of a version; None leaves them as they are."""
    before = by_name(connection, workspace, name, version)
    _check(name, description, tags or {})
    here = workspaces.serial(connection, workspace)
    connection.execute(
        update(dataset_versions)
        .where(_named(here, name), dataset_versions.c.version == version)
        .values(
            description=before.description if description is None else description,
            tags=before.tags if tags is None else dict(tags),
        )
    )
    return by_name(connection, workspace, name, version)


def unregister(connection: Connection, workspace: str, name: str) -> int:
    """Take a name away with all its versions; returns how many. The definitions stay: runs refer to them by id."""
    here = workspaces.serial(connection, workspace)
    count = connection.execute(delete(dataset_versions).where(_named(here, name))).rowcount
    if not count:
        raise _no_name(connection, workspace, here, name, None)
    return int(count)


def _registered() -> Any:
    return select(
        datasets.c.id,
        datasets.c.definition,
        datasets.c.created_at,
        dataset_versions.c.name,
        dataset_versions.c.version,
        dataset_versions.c.description,
        dataset_versions.c.tags,
        dataset_versions.c.created_at.label("registered_at"),
    ).join_from(dataset_versions, datasets, dataset_versions.c.dataset == datasets.c.serial)


def _dataset(row: Row[Any]) -> Dataset:
    return Dataset(**row._mapping)


def _named(here: int, name: str) -> Any:
    return (dataset_versions.c.workspace == here) & (dataset_versions.c.name == name)


def _check(name: str, description: str | None, tags: Mapping[str, str]) -> None:
    try:
        contract.check_name(name)
    except contract.BadDefinition as error:
        raise Refused("bad_dataset", error.message, error.help) from None
    if description is not None and len(description) > LONGEST_TEXT:
        raise Refused("bad_dataset", f"A description has at most {LONGEST_TEXT:,} characters.")
    if len(tags) > MOST_TAGS or any(len(key) > 255 or len(value) > LONGEST_TEXT for key, value in tags.items()):
        raise Refused("bad_dataset", f"A dataset has at most {MOST_TAGS} tags, with keys of up to 255 characters.")


def _no_id(workspace: str, id: str) -> NotFound:
    return NotFound(
        "dataset_not_found",
        f"There is no dataset with the id {id[:80]!r} in the workspace {workspace!r}.",
        "`runyard data ls` lists the registered ones.",
    )


def _no_name(connection: Connection, workspace: str, here: int, name: str, version: int | None) -> NotFound:
    known = connection.execute(
        select(dataset_versions.c.name, func.max(dataset_versions.c.version))
        .where(dataset_versions.c.workspace == here)
        .group_by(dataset_versions.c.name)
    ).all()
    last = {row[0]: row[1] for row in known}
    if version is not None and name in last:
        return NotFound(
            "dataset_not_found",
            f"The dataset {name!r} has no version {version} in the workspace {workspace!r}.",
            f"Its latest one is {last[name]}.",
        )
    near = difflib.get_close_matches(name, sorted(last), 3)
    help = f"There is {', '.join(repr(each) for each in near)}." if near else "`runyard data ls` lists those there are."
    return NotFound("dataset_not_found", f"There is no dataset {name[:80]!r} in the workspace {workspace!r}.", help)
