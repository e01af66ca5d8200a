"""Routes of the views of the table of runs that have a name."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.middleware.auth import User
from runyard.server.responses.documents import answer, timestamp
from runyard.store.runs import saved_views

router = APIRouter(prefix="/api/workspaces/{workspace}/views", tags=["table"], dependencies=[User])


class View(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str


@router.get("", summary="The saved views of a workspace")
def find(workspace: str, context: Context) -> Response:
    with context.store.database.read() as connection:
        found = saved_views.find(connection, workspace)
    return answer(
        {
            "views": [
                {"name": each.name, "query": each.query, "updated_at": timestamp(each.updated_at)} for each in found
            ]
        }
    )


@router.put("/{name:path}", summary="Save a view under a name")
def put(workspace: str, name: str, body: View, context: Context) -> Response:
    with context.store.database.write() as connection:
        saved_views.put(connection, workspace, name, body.query)
    return answer({"name": name, "query": body.query})


@router.delete("/{name:path}", summary="Delete a saved view")
def remove(workspace: str, name: str, context: Context) -> Response:
    with context.store.database.write() as connection:
        saved_views.remove(connection, workspace, name)
    return answer({"removed": name})
