"""Stopping all services before the server itself is stopped. They come back when it starts again."""

from __future__ import annotations

import asyncio
import time

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.middleware.auth import User
from runyard.server.responses.documents import answer

router = APIRouter(prefix="/api/services", tags=["services"])

LONGEST_WAIT = 60.0
LOOK_EVERY = 0.1


@router.post("/stop", summary="Stop the services of all workspaces until the server starts again", dependencies=[User])
async def stop(context: Context) -> Response:
    services = context.scheduler.services
    stopped = await run_in_threadpool(services.stop_all)
    deadline = time.monotonic() + LONGEST_WAIT
    while await run_in_threadpool(services.any_live) and time.monotonic() < deadline:
        await asyncio.sleep(LOOK_EVERY)
    return answer({"stopped": stopped})
