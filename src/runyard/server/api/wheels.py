"""Routes of private wheels: packages that a workspace holds itself."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from runyard.server.api.files import BYTES
from runyard.server.context import Context, ServerContext
from runyard.server.middleware.reach import Within
from runyard.server.requests import uploads
from runyard.server.responses import documents
from runyard.server.responses.documents import answer
from runyard.store.content import wheels
from runyard.store.content.objects import ObjectWriter
from runyard.store.content.wheels import Wheel

router = APIRouter(prefix="/api/workspaces/{workspace}/wheels", tags=["environments"])


@router.get("/{name}", summary="Where a wheel is")
def get(workspace: Within, name: str, context: Context) -> Response:
    with context.store.database.read() as connection:
        return answer(documents.wheel(wheels.get(connection, workspace, name)))


@router.put("/{name}", summary="Store a wheel", openapi_extra=BYTES)
async def put(workspace: Within, name: str, request: Request, context: Context, exist_ok: bool = False) -> Response:
    await run_in_threadpool(_refuse_taken, context, workspace, name, exist_ok)
    writer = await uploads.receive_object(request, context.store.objects)
    wheel = await run_in_threadpool(_keep, context, workspace, name, writer, exist_ok)
    context.meters.stored(wheel.size)
    return answer(documents.wheel(wheel))


def _refuse_taken(context: ServerContext, workspace: str, name: str, exist_ok: bool) -> None:
    """Before the bytes are read: there may be many."""
    wheels.check_name(name)
    with context.store.database.read() as connection:
        if wheels.look_up(connection, workspace, name) is not None and not exist_ok:
            raise wheels.exists(workspace, name)


def _keep(context: ServerContext, workspace: str, name: str, writer: ObjectWriter, exist_ok: bool) -> Wheel:
    try:
        with context.store.database.write() as connection:
            return wheels.put(connection, workspace, name, writer.finish(), exist_ok)
    except BaseException:
        writer.abort()
        raise
