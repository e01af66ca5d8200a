"""Links to the files of a model, for whoever has them: each opens one file, for some hours, without a token."""

from __future__ import annotations

import time
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse

from runyard.contracts import manifest
from runyard.server.api.assets.models import ExactVersion, Version, file_of, version_of
from runyard.server.connections import trust
from runyard.server.context import Context
from runyard.server.middleware.auth import link_key, same
from runyard.server.middleware.problems import Problem
from runyard.server.middleware.reach import Within
from runyard.server.responses.documents import answer
from runyard.store.content import snapshots

router = APIRouter(tags=["models"])

SECONDS = 6 * 3600
"""For how long a link opens its file."""

PRIVATE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
"""The key is in the address: it must not travel on to other sites, nor stay in caches."""


@router.get(
    "/api/workspaces/{workspace}/models/{name}/{version}/links", summary="An address for each file, without a token"
)
def links(workspace: Within, name: str, version: Version, request: Request, context: Context) -> Response:
    found = version_of(context, workspace, name, version)
    with context.store.database.read() as connection:
        entries = manifest.parse(snapshots.manifest_text(connection, found.content.tree)).entries
    expires = int(time.time()) + SECONDS
    place = f"{request.base_url}models/{quote(workspace)}/{found.name}/{found.version}"
    signed = {
        entry.path: f"{place}/{quote(entry.path)}?expires={expires}&key="
        + link_key(context.settings.secret, _signed(workspace, found.id, entry.path, expires))
        for entry in entries
        if entry.kind == manifest.FILE
    }
    return answer({"links": signed, "seconds": SECONDS})


@router.get(
    "/models/{workspace}/{name}/{version}/{path:file}",
    summary="A file of a model, for whoever has its link",
    response_class=StreamingResponse,
)
def download(
    workspace: str,
    name: str,
    version: ExactVersion,
    path: str,
    request: Request,
    context: Context,
    expires: Annotated[int, Query(ge=0, le=2**62)] = 0,
    key: Annotated[str, Query(description="from the link")] = "",
    range: Annotated[str | None, Header()] = None,
) -> Response:
    due = _signed(workspace, f"{name}:{version}", path, expires)
    if not same(key, link_key(context.settings.secret, due)) or expires < time.time():
        raise Problem(
            "not_allowed",
            "This link does not open a file of a model, or does so no longer.",
            "`model.get_sas_urls()` gives new ones.",
        )
    trust(request.scope)
    response = file_of(context, workspace, name, str(version), path, range)
    response.headers.update(PRIVATE)
    return response


def _signed(workspace: str, id: str, path: str, expires: int) -> str:
    return f"{workspace}/{id}/{expires}/{path}"
