"""Routes of the settings of a workspace."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.middleware.auth import User
from runyard.server.responses.documents import answer
from runyard.store.runs import workspace_settings

router = APIRouter(prefix="/api/workspaces/{workspace}/settings", tags=["workspaces"], dependencies=[User])


class Value(BaseModel):
    model_config = ConfigDict(extra="forbid")

    value: str


@router.get("", summary="The settings of a workspace")
def find(workspace: str, context: Context) -> Response:
    with context.store.database.read() as connection:
        return answer({"settings": workspace_settings.find(connection, workspace)})


@router.put("/{key}", summary="Change a setting")
def put(workspace: str, key: str, body: Value, context: Context) -> Response:
    with context.store.database.write() as connection:
        workspace_settings.put(connection, workspace, key, body.value)
        return answer({"settings": workspace_settings.find(connection, workspace)})


@router.delete("/{key}", summary="Set a setting back")
def remove(workspace: str, key: str, context: Context) -> Response:
    with context.store.database.write() as connection:
        workspace_settings.remove(connection, workspace, key)
        return answer({"settings": workspace_settings.find(connection, workspace)})
