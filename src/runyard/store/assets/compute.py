"""Compute targets of workspaces (`runyard.contracts.compute.Target`). `local` has no row: it is always there."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, bindparam, delete, insert, select
from sqlalchemy import update as update_

from runyard.contracts.compute import LOCAL, Target
from runyard.store.errors import Conflict, NotFound
from runyard.store.prepared import Prepared
from runyard.store.runs import workspaces
from runyard.store.tables import compute_targets
from runyard.store.tables import workspaces as workspace_rows

_DOCUMENT = Prepared(
    select(compute_targets.c.document)
    .join(workspace_rows)
    .where(workspace_rows.c.name == bindparam("within"), compute_targets.c.name == bindparam("called"))
)

THIS_MACHINE = Target(name=LOCAL, type=LOCAL, idle_seconds=0)


def find(connection: Connection, workspace: str) -> list[Target]:
    """The targets of a workspace by name, `local` first."""
    here = workspaces.serial(connection, workspace)
    query = select(compute_targets.c.document).where(compute_targets.c.workspace == here)
    made = [Target.from_dict(document) for document in connection.scalars(query.order_by(compute_targets.c.name))]
    return [THIS_MACHINE, *made]


def look_up(connection: Connection, workspace: str, name: str) -> Target | None:
    if name == LOCAL:
        return THIS_MACHINE
    document = _DOCUMENT.scalar(connection, {"within": workspace, "called": name})
    if document is None:
        workspaces.serial(connection, workspace)  # refused when there is no such workspace
        return None
    return Target.from_dict(document)


def get(connection: Connection, workspace: str, name: str) -> Target:
    target = look_up(connection, workspace, name)
    if target is None:
        raise NotFound(
            "compute_not_found",
            f"There is no compute target {name!r} in the workspace {workspace!r}.",
            f"It has: {', '.join(each.name for each in find(connection, workspace))}. Make one with "
            f"`runyard compute create {name} --max-nodes 4`.",
            {"targets": [each.name for each in find(connection, workspace)]},
        )
    return target


def must_be_free(connection: Connection, workspace: str, name: str) -> None:
    if look_up(connection, workspace, name) is not None:
        raise Conflict(
            "compute_exists",
            f"There is a compute target {name!r} already.",
            f"Use it, change it with `runyard compute update {name}`, or choose another name.",
        )


def create(connection: Connection, workspace: str, target: Target) -> None:
    must_be_free(connection, workspace, target.name)
    here = workspaces.serial(connection, workspace)
    connection.execute(insert(compute_targets).values(workspace=here, name=target.name, document=target.as_dict()))


def replace(connection: Connection, workspace: str, target: Target) -> None:
    get(connection, workspace, target.name)
    where = _row(connection, workspace, target.name)
    connection.execute(update_(compute_targets).where(*where).values(document=target.as_dict()))


def remove(connection: Connection, workspace: str, name: str) -> None:
    get(connection, workspace, name)
    connection.execute(delete(compute_targets).where(*_row(connection, workspace, name)))


def _row(connection: Connection, workspace: str, name: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    here = workspaces.serial(connection, workspace)
    return compute_targets.c.workspace == here, compute_targets.c.name == name
