"""Experiments: named groups of runs in a workspace."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection, Select, bindparam, insert, select
from sqlalchemy import update as update_

from runyard.contracts import names
from runyard.contracts.services.states import EXPERIMENT as OF_SERVICES
from runyard.store import damage
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.prepared import Prepared
from runyard.store.runs import workspaces
from runyard.store.tables import experiments, runs
from runyard.store.tables import workspaces as workspace_rows

ACTIVE_ONLY, ARCHIVED_ONLY, ALL = "ActiveOnly", "ArchivedOnly", "All"


_ROWS: Select[Any] = select(experiments, workspace_rows.c.name.label("workspace_name")).join(workspace_rows)
# Building a statement costs more than running it: the one that every submit needs is built once.
_NAMED = Prepared(_ROWS.where(workspace_rows.c.name == bindparam("within"), experiments.c.name == bindparam("called")))


@dataclass(frozen=True)
class Experiment:
    id: str
    workspace: str
    name: str
    tags: dict[str, str | None]
    created_at: datetime
    archived_at: datetime | None


def ensure(connection: Connection, workspace: str, name: str) -> Experiment:
    """The experiment of that name; made when it is not there."""
    _check(name)
    named = {"within": workspace, "called": name}
    row = _NAMED.first(connection, named)
    if row is None:
        here = workspaces.serial(connection, workspace)
        connection.execute(
            insert(experiments).values(
                id=str(uuid.uuid4()),
                workspace=here,
                name=name,
                tags={},
                last_number=0,
                created_at=datetime.now(timezone.utc),
            )
        )
        row = _NAMED.first(connection, named)
    return _experiment(row)


def look_up(connection: Connection, id: str) -> Experiment | None:
    row = connection.execute(_ROWS.where(experiments.c.id == id)).first()
    return None if row is None else _experiment(row)


def get(connection: Connection, id: str) -> Experiment:
    found = look_up(connection, id)
    if found is None:
        raise NotFound(
            "experiment_not_found", f"There is no experiment {id!r}.", "`Experiment.list` names the experiments."
        )
    return found


def find(
    connection: Connection,
    workspace: str,
    view: str = ACTIVE_ONLY,
    name: str | None = None,
    tags: Iterable[tuple[str, str | None]] = (),
) -> list[Experiment]:
    """The experiments of a workspace, newest first, that of its services only by its name. A tag is (key, value), or
    (key, None) for any value."""
    query = _ROWS.where(experiments.c.workspace == workspaces.serial(connection, workspace))
    if name is not None:
        query = query.where(experiments.c.name == name)
    else:
        query = query.where(experiments.c.name != OF_SERVICES)
    if view == ACTIVE_ONLY:
        query = query.where(experiments.c.archived_at.is_(None))
    elif view == ARCHIVED_ONLY:
        query = query.where(experiments.c.archived_at.is_not(None))
    elif view != ALL:
        raise Refused("bad_request", f"There is no view {view!r}.", "Use ActiveOnly, ArchivedOnly or All.")
    wanted = list(tags)
    query = query.order_by(experiments.c.serial.desc())
    found = map(_experiment, damage.rows(connection, query, experiments.c.serial, experiments.c.name))
    return [
        experiment
        for experiment in found
        if all(key in experiment.tags and value in (None, experiment.tags[key]) for key, value in wanted)
    ]


def newest_runs(connection: Connection, workspace: str) -> dict[str, datetime]:
    """When the newest run of each experiment of a workspace was made, by the id of the experiment."""
    newest = (
        select(runs.c.created_at)
        .where(runs.c.experiment == experiments.c.serial)
        .order_by(runs.c.serial.desc())
        .limit(1)
        .scalar_subquery()
    )
    here = experiments.c.workspace == workspaces.serial(connection, workspace)
    found = connection.execute(select(experiments.c.id, newest.label("at")).where(here))
    return {row.id: row.at for row in found if row.at is not None}


def update(
    connection: Connection,
    id: str,
    set_tags: Mapping[str, str | None] | None = None,
    remove_tags: Iterable[str] = (),
    archived: bool | None = None,
    name: str | None = None,
) -> Experiment:
    before = get(connection, id)
    removed = set(remove_tags)
    tags = {key: value for key, value in {**before.tags, **(set_tags or {})}.items() if key not in removed}
    archived_at = before.archived_at
    if archived is not None:
        archived_at = (archived_at or datetime.now(timezone.utc)) if archived else None
    if name is not None and name != before.name:
        _check(name)
        if find(connection, before.workspace, ALL, name):
            raise Conflict(
                "experiment_exists",
                f"There is an experiment {name!r} in the workspace {before.workspace!r} already.",
                "Choose another name.",
            )
    connection.execute(
        update_(experiments)
        .where(experiments.c.id == id)
        .values(tags=tags, archived_at=archived_at, name=name or before.name)
    )
    return get(connection, id)


def _check(name: str) -> None:
    try:
        names.check("experiment", name)
    except names.BadName as error:
        raise Refused("bad_name", str(error)) from error


def _experiment(row: Any) -> Experiment:
    return Experiment(row.id, row.workspace_name, row.name, row.tags, row.created_at, row.archived_at)
