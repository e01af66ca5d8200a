"""Routes for looking at a service: what it counts now, what it takes, and a request to try it.

A page cannot ask the service itself: that is another port, whose key no page should hold.
"""

from __future__ import annotations

import json

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from runyard.server import service_calls
from runyard.server.context import Context, ServerContext
from runyard.server.middleware.auth import User
from runyard.server.middleware.problems import Problem
from runyard.server.responses.documents import answer
from runyard.store.assets import services
from runyard.store.assets.services import Service

LOOK = 5.0
"""Seconds that a look at a service may take; a request to try it may take as long as a model does."""

router = APIRouter(prefix="/api/workspaces/{workspace}/services/{name}", tags=["services"], dependencies=[User])


@router.get("/numbers", summary="What a service has counted so far: requests, errors, seconds, memory")
def numbers(workspace: str, name: str, context: Context) -> Response:
    found = service_calls.call(context, _service(context, workspace, name), "/metrics", patience=LOOK)
    return answer({"numbers": service_calls.numbers(found.body.decode("utf-8", "replace"))})


@router.get("/description", summary="What a service takes and gives, as OpenAPI 3")
def description(workspace: str, name: str, context: Context) -> Response:
    found = service_calls.call(context, _service(context, workspace, name), "/swagger.json?version=3", patience=LOOK)
    try:
        document = json.loads(found.body)
    except ValueError:
        document = None
    if found.status != 200 or not isinstance(document, dict):
        raise Problem("service_away", f"The service {name[:80]!r} gives no description.", "Its log may say why.")
    return answer({"description": document})


@router.post("/trial", summary="Send a request to a service, with its key")
async def trial(
    workspace: str,
    name: str,
    request: Request,
    context: Context,
) -> Response:
    """The body goes to the service as it is. `body` of the answer is text; what is no text is shown as its size."""
    body = await request.body()
    kind = request.headers.get("content-type", "application/json")
    service = await run_in_threadpool(_service, context, workspace, name)
    found = await run_in_threadpool(service_calls.call, context, service, "/score", body, kind)
    try:
        text = found.body.decode("utf-8")
    except UnicodeDecodeError:
        text = f"{len(found.body):,} bytes that are no text" if not found.cut else found.body.decode("utf-8", "replace")
    shown = {"status": found.status, "content_type": found.content_type, "seconds": round(found.seconds, 6)}
    return answer({**shown, "body": text, "cut": found.cut})


def _service(context: ServerContext, workspace: str, name: str) -> Service:
    with context.store.database.read() as connection:
        return services.get(connection, workspace, name)
