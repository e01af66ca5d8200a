"""The registry as MLflow has it: a model as a whole with its description, tags and aliases, and where each version came
from. The versions themselves are the models of everybody (`runyard.store.assets.models`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from runyard.contracts import names
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import workspaces
from runyard.store.tables import model_aliases, model_names, model_origins, models, registered_models

NO_STAGE = "None"
STAGES = (NO_STAGE, "Staging", "Production", "Archived")

_VERSION_LIKE = re.compile(r"v[0-9]+|latest", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class Registered:
    """A model as a whole."""

    name: str
    description: str | None
    tags: dict[str, str]
    aliases: dict[str, int]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class Origin:
    """What MLflow knows of a version besides what every version has."""

    source: str | None = None
    run_link: str | None = None
    logged_model: str | None = None
    stage: str = NO_STAGE
    updated_at: datetime | None = None


def create(connection: Connection, workspace: str, name: str, description: str | None, tags: Mapping[str, str]) -> None:
    _check(name)
    if look_up(connection, workspace, name) is not None:
        raise Conflict(
            "registered_model_exists", f"There is a model {name!r} already.", "Register a version of it, or rename it."
        )
    here, now = workspaces.serial(connection, workspace), datetime.now(timezone.utc)
    connection.execute(
        insert(registered_models).values(
            workspace=here, name=name, description=description, tags=dict(tags), created_at=now, updated_at=now
        )
    )


def look_up(connection: Connection, workspace: str, name: str) -> Registered | None:
    found = find(connection, workspace, name)
    return found[0] if found else None


def get(connection: Connection, workspace: str, name: str) -> Registered:
    found = look_up(connection, workspace, name)
    if found is None:
        raise NotFound(
            "model_not_found", f"There is no registered model {names.shown(name)}.", "`runyard models ls` lists them."
        )
    return found


def find(connection: Connection, workspace: str, name: str | None = None) -> list[Registered]:
    """The models of a workspace, by name: those of which something is said, and those that have versions."""
    here = workspaces.serial(connection, workspace)
    said = select(registered_models).where(registered_models.c.workspace == here)
    made = select(
        models.c.name, func.min(models.c.created_at).label("first"), func.max(models.c.created_at).label("last")
    )
    made = made.where(models.c.workspace == here).group_by(models.c.name)
    known = select(model_aliases).where(model_aliases.c.workspace == here)
    if name is not None:
        said = said.where(registered_models.c.name == name)
        made = made.where(models.c.name == name)
        known = known.where(model_aliases.c.name == name)
    aliases: dict[str, dict[str, int]] = {}
    for row in connection.execute(known):
        aliases.setdefault(row.name, {})[row.alias] = row.version
    found = {
        row.name: Registered(row.name, None, {}, aliases.get(row.name, {}), row.first, row.last)
        for row in connection.execute(made)
    }
    for row in connection.execute(said):
        before = found.get(row.name)
        updated = max(row.updated_at, before.updated_at) if before else row.updated_at
        here_aliases = aliases.get(row.name, {})
        found[row.name] = Registered(row.name, row.description, row.tags, here_aliases, row.created_at, updated)
    return [found[each] for each in sorted(found)]


def change(
    connection: Connection,
    workspace: str,
    name: str,
    description: str | None = None,
    set_tags: Mapping[str, str] | None = None,
    remove_tag: str | None = None,
) -> Registered:
    before = get(connection, workspace, name)
    tags = {**before.tags, **(set_tags or {})}
    if remove_tag is not None:
        tags.pop(remove_tag, None)
    here = workspaces.serial(connection, workspace)
    connection.execute(
        delete(registered_models).where(registered_models.c.workspace == here, registered_models.c.name == name)
    )
    connection.execute(
        insert(registered_models).values(
            workspace=here,
            name=name,
            description=before.description if description is None else description,
            tags=tags,
            created_at=before.created_at,
            updated_at=datetime.now(timezone.utc),
        )
    )
    return get(connection, workspace, name)


def rename(connection: Connection, workspace: str, name: str, new_name: str) -> Registered:
    """Give a model another name, with all its versions. Services go on: they hold versions by their numbers."""
    get(connection, workspace, name)
    _check(new_name)
    if look_up(connection, workspace, new_name) is not None:
        raise Conflict("registered_model_exists", f"There is a model {new_name!r} already.", "Choose another name.")
    here = workspaces.serial(connection, workspace)
    used = select(model_names.c.name).where(model_names.c.workspace == here, model_names.c.name == new_name)
    if connection.execute(used).first() is not None:
        title = (
            f"The name {new_name!r} was that of a model whose versions were deleted: their numbers are not used again."
        )
        raise Conflict("registered_model_exists", title, "Choose another name.")
    for table in (models, registered_models, model_aliases):
        mine = (table.c.workspace == here, table.c.name == name)
        connection.execute(update(table).where(*mine).values(name=new_name))
    last = select(model_names.c.last_version).where(model_names.c.workspace == here, model_names.c.name == name)
    number = connection.scalar(last)
    if number is not None:
        connection.execute(insert(model_names).values(workspace=here, name=new_name, last_version=number))
    return get(connection, workspace, new_name)


def remove(connection: Connection, workspace: str, name: str) -> None:
    """Forget what is said of a model as a whole. Its versions are deleted before."""
    here = workspaces.serial(connection, workspace)
    for table in (registered_models, model_aliases):
        connection.execute(delete(table).where(table.c.workspace == here, table.c.name == name))


# -- aliases ----------------------------------------------------------------------------------------------------------


def set_alias(connection: Connection, workspace: str, name: str, alias: str, version: int) -> None:
    if not alias or len(alias) > 255 or _VERSION_LIKE.fullmatch(alias):
        raise Refused(
            "bad_name",
            f"{names.shown(alias)} is no alias: use 1 to 255 characters, and neither 'latest' nor what looks like a "
            "version, such as 'v1'.",
        )
    remove_alias(connection, workspace, name, alias)
    here = workspaces.serial(connection, workspace)
    connection.execute(insert(model_aliases).values(workspace=here, name=name, alias=alias, version=version))


def remove_alias(connection: Connection, workspace: str, name: str, alias: str) -> None:
    here = workspaces.serial(connection, workspace)
    mine = (model_aliases.c.workspace == here, model_aliases.c.name == name, model_aliases.c.alias == alias)
    connection.execute(delete(model_aliases).where(*mine))


def version_of(connection: Connection, workspace: str, name: str, alias: str) -> int:
    found = get(connection, workspace, name).aliases.get(alias)
    if found is None:
        raise NotFound("alias_not_found", f"The model {name!r} has no alias {names.shown(alias)}.")
    return found


# -- origins of versions ----------------------------------------------------------------------------------------------


def put_origin(connection: Connection, model: int, **values: Any) -> None:
    """Set what MLflow knows of a version, by the serial of its row."""
    values["updated_at"] = datetime.now(timezone.utc)
    known = connection.execute(select(model_origins.c.model).where(model_origins.c.model == model)).first()
    if known is None:
        connection.execute(insert(model_origins).values(**{"model": model, "stage": NO_STAGE, **values}))
    else:
        connection.execute(update(model_origins).where(model_origins.c.model == model).values(**values))


def origins(connection: Connection, serials: Sequence[int]) -> dict[int, Origin]:
    """What MLflow knows of some versions, by the serials of their rows."""
    found: dict[int, Origin] = {}
    for row in connection.execute(select(model_origins).where(model_origins.c.model.in_(_bounded(serials)))):
        found[row.model] = Origin(row.source, row.run_link, row.logged_model, row.stage, row.updated_at)
    return found


def _bounded(serials: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(serials))


def _check(name: str) -> None:
    try:
        names.check("model", name)
    except names.BadName as error:
        raise Refused("bad_name", str(error)) from error
