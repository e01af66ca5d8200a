"""Routes of workspaces."""

from __future__ import annotations

import shutil

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from runyard.contracts import names
from runyard.server.context import Context
from runyard.server.middleware import reach
from runyard.server.middleware.auth import AnyCaller, User, not_allowed
from runyard.server.responses import documents
from runyard.server.responses.documents import answer
from runyard.store import damage
from runyard.store.content import deletion
from runyard.store.runs import workspaces

router = APIRouter(prefix="/api/workspaces", tags=["workspaces"])


class NewWorkspace(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    subscription_id: str
    resource_group: str
    location: str | None = None
    friendly_name: str | None = None
    description: str | None = None
    tags: dict[str, str | None] = {}
    exist_ok: bool = False


class WorkspaceChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    friendly_name: str | None = None
    description: str | None = None
    tags: dict[str, str | None] | None = None


@router.get("", summary="List the workspaces; a run sees its own")
def find(caller: AnyCaller, context: Context) -> Response:
    own = reach.workspace_of(context, caller)
    reach.must_be_within(context, caller, own)
    with context.store.database.read() as connection:
        rows = workspaces.find(connection) if own is None else [workspaces.get(connection, own)]
        damaged = damage.seen(connection)
    return answer({"workspaces": [documents.workspace(row) for row in rows], "damaged": damaged})


@router.post("", summary="Make a workspace")
def create(body: NewWorkspace, caller: AnyCaller, context: Context) -> Response:
    names.check("workspace", body.name)
    reach.must_be_within(context, caller, body.name)
    if caller.run_id is not None and not body.exist_ok:
        raise not_allowed(caller.run_id, "A run makes no workspaces.")
    with context.store.database.write() as connection:
        row = workspaces.create(connection, **body.model_dump())
    return answer(documents.workspace(row))


@router.get("/{name}", summary="One workspace")
def get(name: str, caller: AnyCaller, context: Context) -> Response:
    reach.must_be_within(context, caller, name)
    with context.store.database.read() as connection:
        row = workspaces.get(connection, name)
    return answer(documents.workspace(row))


@router.patch("/{name}", summary="Change a workspace", dependencies=[User])
def update(name: str, body: WorkspaceChange, context: Context) -> Response:
    with context.store.database.write() as connection:
        row = workspaces.update(connection, name, **body.model_dump(exclude_unset=True))
    return answer(documents.workspace(row))


@router.delete("/{name}", summary="Delete a workspace with all that is in it", dependencies=[User])
def delete(name: str, context: Context) -> Response:
    left = [run.id for run in context.scheduler.left() if run.workspace == name]
    freed = deletion.delete_workspace(context.store, name)
    for run_id in left:
        context.scheduler.forget(run_id)
    shutil.rmtree(context.settings.home / "datastores" / name, ignore_errors=True)  # its own; links are not followed
    return answer(documents.freed(freed))
