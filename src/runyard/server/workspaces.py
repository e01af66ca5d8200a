"""Routes of workspaces."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from runyard.contracts import names
from runyard.server import answers
from runyard.server.answers import answer
from runyard.server.auth import User
from runyard.server.yard import Here
from runyard.store import damage, deletion, workspaces

router = APIRouter(prefix="/api/workspaces", tags=["workspaces"], dependencies=[User])


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


@router.get("", summary="List the workspaces")
def find(yard: Here) -> Response:
    with yard.store.database.read() as connection:
        rows = workspaces.find(connection)
        damaged = damage.seen(connection)
    return answer({"workspaces": [answers.workspace(row) for row in rows], "damaged": damaged})


@router.post("", summary="Make a workspace")
def create(body: NewWorkspace, yard: Here) -> Response:
    names.check("workspace", body.name)
    with yard.store.database.write() as connection:
        row = workspaces.create(connection, **body.model_dump())
    return answer(answers.workspace(row))


@router.get("/{name}", summary="One workspace")
def get(name: str, yard: Here) -> Response:
    with yard.store.database.read() as connection:
        row = workspaces.get(connection, name)
    return answer(answers.workspace(row))


@router.patch("/{name}", summary="Change a workspace")
def update(name: str, body: WorkspaceChange, yard: Here) -> Response:
    with yard.store.database.write() as connection:
        row = workspaces.update(connection, name, **body.model_dump(exclude_unset=True))
    return answer(answers.workspace(row))


@router.delete("/{name}", summary="Delete a workspace with all that is in it")
def delete(name: str, yard: Here) -> Response:
    return answer(answers.freed(deletion.delete_workspace(yard.store, name)))
