"""Routes about the server itself: is it alive, is it ready, which version, and its meters."""

from __future__ import annotations

import os

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from runyard import __version__
from runyard.contracts import OLDEST_PROTOCOL, PROTOCOL
from runyard.server import condition
from runyard.server.context import Context
from runyard.server.middleware.auth import User
from runyard.server.middleware.problems import Problem
from runyard.server.readiness import OK
from runyard.server.responses.documents import answer, timestamp
from runyard.server.studio import render
from runyard.store.runs import runs

router = APIRouter(tags=["server"])


@router.get("/", summary="What a browser sees that comes here; open to all", response_class=HTMLResponse)
async def front(request: Request, context: Context) -> Response:
    if await context.sessions.of(request.headers) is not None:
        return RedirectResponse("/studio/", 303)
    return HTMLResponse(render.front(), headers={"Content-Security-Policy": render.POLICY})


@router.get("/health", summary="Whether the server is alive; open to all")
async def health() -> Response:
    return answer({"status": "ok"})


@router.get("/ready", summary="Whether the server can work: database and objects; open to all")
def ready(context: Context) -> Response:
    found = context.readiness.look()
    if set(found.values()) == {OK}:
        return answer({"status": "ready", **found})
    faults = ", ".join(f"{part}: {state}" for part, state in found.items() if state != OK)
    raise Problem("not_ready", f"The server cannot work: {faults}.", "Its log says more.", found)


@router.get("/metrics", summary="Prometheus metrics", response_class=PlainTextResponse, dependencies=[User])
def metrics(context: Context) -> Response:
    from runyard.server.middleware import exposition  # loads prometheus_client, which a start does not need

    with context.store.database.read() as connection:
        counts = runs.counts_by_status(connection)
    text = exposition.expose(context.meters, counts, len(context.live))
    return Response(text, media_type=exposition.CONTENT_TYPE)


@router.get("/api/server", summary="Which server this is", dependencies=[User])
def server(context: Context) -> Response:
    return answer(
        {
            "version": __version__,
            "protocol": PROTOCOL,
            "oldest_protocol": OLDEST_PROTOCOL,
            "database": context.store.database.kind,
            "home": str(context.settings.home),
            "pid": os.getpid(),
            "started_at": timestamp(context.started_at),
        }
    )


@router.get("/api/server/condition", summary="How the server stands: disk, database, checks", dependencies=[User])
def condition_now(context: Context) -> Response:
    return answer(condition.of(context))
