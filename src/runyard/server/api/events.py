"""The event stream of a run: its state and its logs as they are, then every change, until it has ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import orjson
from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from runyard.contracts.states import TERMINAL
from runyard.server.context import Context, ServerContext
from runyard.server.middleware.reach import ReadRun
from runyard.server.responses import documents
from runyard.store.content import files
from runyard.store.errors import NotFound
from runyard.store.runs import runs
from runyard.store.runs.runs import StateChange

router = APIRouter(prefix="/api/runs", tags=["runs"])

QUIET = 10.0
"""Seconds until a comment shows the reader that the stream is alive."""


@router.get(
    "/{run_id}/events",
    summary="Follow a run as server-sent events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def events(run_id: ReadRun, context: Context) -> Response:
    # A run that is not there is refused before the stream begins, and one that has ended needs none.
    state, sizes = await run_in_threadpool(_now, context, run_id)
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    if state.status in TERMINAL:
        return Response(_begin(state, sizes), headers=headers, media_type="text/event-stream")
    return StreamingResponse(_stream(context, run_id), headers=headers, media_type="text/event-stream")


async def _stream(context: ServerContext, run_id: str) -> AsyncIterator[bytes]:
    """A state that ends the run is the last event: a reader that stops there has missed nothing."""
    with context.live.subscribe(run_id) as subscription:
        try:
            sent, sizes = await run_in_threadpool(_now, context, run_id)
        except NotFound:
            return
        yield _begin(sent, sizes)
        while sent.status not in TERMINAL:
            news = await subscription.news(QUIET)
            if news is None:
                yield b": \n\n"
                continue
            events = _files(news.files)
            if news.metrics:
                events += _event("metrics", {})
            for change in news.states:
                if _follows(change, sent):
                    sent = change
                    events += _event("state", documents.state(change))
            if events:
                yield events
            if news.over:
                return


def _now(context: ServerContext, run_id: str) -> tuple[StateChange, dict[str, int]]:
    with context.store.database.read() as connection:
        sent = runs.states(connection, run_id)[-1]
        entries = documents.logs(files.find(connection, run_id))
    return sent, {entry.name: entry.size for entry in entries}


def _follows(change: StateChange, sent: StateChange) -> bool:
    """Whether a change is new: what was read at the beginning, or came before it, may still be on its way. An end
    always is."""
    return change.status in TERMINAL or (
        change.at >= sent.at and (change.status, change.reason) != (sent.status, sent.reason)
    )


def _begin(state: StateChange, sizes: Mapping[str, int]) -> bytes:
    """What a stream begins with: the run as it is."""
    return _files(sizes) + _event("state", documents.state(state))


def _files(sizes: Mapping[str, int]) -> bytes:
    return b"".join(_event("file", {"name": name, "size": size}) for name, size in sizes.items())


def _event(name: str, value: Mapping[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode("ascii"), orjson.dumps(value))
