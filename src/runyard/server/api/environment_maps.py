"""Routes of environment maps: what is used in the place of environments whose names match a pattern."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, JsonValue
from sqlalchemy import Connection
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.middleware.auth import User
from runyard.server.requests import definitions
from runyard.server.responses import documents
from runyard.server.responses.documents import Json, answer
from runyard.store.assets import environment_maps

router = APIRouter(prefix="/api/workspaces/{workspace}/environment-maps", tags=["environments"], dependencies=[User])


class NewMap(BaseModel):
    """Exactly one of `interpreter` and `definition` is set."""

    model_config = ConfigDict(extra="forbid")

    pattern: str
    interpreter: str | None = None
    definition: dict[str, JsonValue] | None = None


@router.get("", summary="The maps of a workspace, in the order in which they are tried")
def find(workspace: str, context: Context) -> Response:
    with context.store.database.read() as connection:
        return answer(_all(connection, workspace))


@router.put("", summary="Map a pattern to an interpreter or a definition")
def put(workspace: str, body: NewMap, context: Context) -> Response:
    definition = None if body.definition is None else definitions.veiled(body.definition, context.secrets)
    with context.store.database.write() as connection:
        environment_maps.put(connection, workspace, body.pattern, body.interpreter, definition)
        return answer(_all(connection, workspace))


@router.delete("", summary="Remove the map of a pattern")
def remove(workspace: str, pattern: str, context: Context) -> Response:
    with context.store.database.write() as connection:
        environment_maps.remove(connection, workspace, pattern)
        return answer(_all(connection, workspace))


def _all(connection: Connection, workspace: str) -> Json:
    return {"maps": [documents.environment_map(each) for each in environment_maps.find(connection, workspace)]}
