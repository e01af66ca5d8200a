"""The stream of what happens to all runs, for those who look at a list of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import orjson
from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from runyard.server.context import Context, ServerContext
from runyard.server.middleware.auth import User

QUIET = 10.0
"""Seconds until a comment shows the reader that the stream is alive."""
TOGETHER = 0.25
"""Seconds for which what happens is gathered: many runs change at once."""

router = APIRouter(prefix="/api/changes", tags=["runs"], dependencies=[User])


@router.get(
    "",
    summary="Follow which runs change, as server-sent events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def changes(context: Context) -> Response:
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(_stream(context), headers=headers, media_type="text/event-stream")


async def _stream(context: ServerContext) -> AsyncIterator[bytes]:
    with context.live.changes() as stream:
        yield b"event: begin\ndata: {}\n\n"
        while not stream.over:
            found = await stream.next(QUIET)
            if found is None:
                yield b": \n\n"
                continue
            changed, delivered = found
            if changed or delivered:
                yield b"event: runs\ndata: %s\n\n" % orjson.dumps({"changed": changed, "delivered": delivered})
                await asyncio.sleep(TOGETHER)
