"""Routes of mapped addresses: where the files of a web address that is gone are now.

A run reads the map of its workspace, so that its script finds data as a notebook does; the user changes it.
"""

from __future__ import annotations

import json

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection
from starlette.responses import Response

from runyard.contracts.data import address_map
from runyard.server.context import Context
from runyard.server.middleware.auth import User
from runyard.server.middleware.problems import Problem
from runyard.server.middleware.reach import Within
from runyard.server.responses.documents import answer
from runyard.store.runs import workspace_settings

router = APIRouter(prefix="/api/workspaces/{workspace}/data-map", tags=["data"])


class NewMap(BaseModel):
    model_config = ConfigDict(extra="forbid")

    prefix: str
    place: str


@router.get("", summary="The mapped addresses of a workspace")
def find(workspace: Within, context: Context) -> Response:
    with context.store.database.read() as connection:
        return answer({"map": _maps(connection, workspace)})


@router.put("", summary="Say where the files of addresses with a prefix are now", dependencies=[User])
def put(workspace: str, body: NewMap, context: Context) -> Response:
    try:
        address_map.check(body.prefix, body.place)
    except address_map.BadMap as error:
        raise Problem("bad_map", str(error), "Map a prefix to an address, or to a folder of the server.") from None
    with context.store.database.write() as connection:
        return answer(
            {"map": _stored(connection, workspace, {**_maps(connection, workspace), body.prefix: body.place})}
        )


@router.delete("", summary="Read addresses with a prefix themselves again", dependencies=[User])
def remove(workspace: str, prefix: str, context: Context) -> Response:
    with context.store.database.write() as connection:
        maps = _maps(connection, workspace)
        if prefix not in maps:
            known = ", ".join(maps) or "none"
            raise Problem("map_not_found", f"The address {prefix[:200]!r} is not mapped.", f"Those that are: {known}.")
        maps.pop(prefix)
        return answer({"map": _stored(connection, workspace, maps)})


def _maps(connection: Connection, workspace: str) -> dict[str, str]:
    return workspace_settings.mapped(workspace_settings.find(connection, workspace))


def _stored(connection: Connection, workspace: str, maps: dict[str, str]) -> dict[str, str]:
    if len(maps) > address_map.MOST:
        raise Problem("bad_map", f"A workspace has at most {address_map.MOST:,} mapped addresses.")
    workspace_settings.put(connection, workspace, workspace_settings.DATA_MAP, json.dumps(maps))
    return _maps(connection, workspace)
