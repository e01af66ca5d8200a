"""The route that reads the metrics of runs."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from runyard.server.context import Context
from runyard.server.middleware.reach import SeenRun
from runyard.store.metrics import staging, streaming
from runyard.store.metrics.streaming import Asked
from runyard.store.runs import runs

PIECE = 1 << 17
"""A shorter answer is sent as a whole; a longer one in pieces of about this size."""

router = APIRouter(prefix="/api/runs/{run_id}/metrics", tags=["metrics"])


@router.get("", summary="Metrics of a run, whole or downsampled")
def read(
    run_id: SeenRun,
    context: Context,
    name: str | None = None,
    recursive: Annotated[bool, Query(description="with those of all descendants")] = False,
    buckets: Annotated[int | None, Query(ge=1, le=100_000, description="at most so many points of a series")] = None,
    limit: Annotated[int | None, Query(ge=1, le=100_000, description="at most so many metrics of a run")] = None,
    by_rank: Annotated[bool, Query(description="a series for each rank that logged it")] = False,
    source: Annotated[
        Literal["", "system", "events"],
        Query(description="what was observed from there, instead of what the run has logged"),
    ] = "",
) -> Response:
    wanted = [run_id]
    if recursive:
        with context.store.database.read() as connection:
            wanted += runs.descendants(connection, run_id)
        context.pace.notice(wanted)
    staging.settle(context.store.database, wanted)
    pieces = streaming.gathered(
        streaming.document(context.store.database, wanted, Asked(name, buckets, limit, by_rank, source)), PIECE
    )
    first = next(pieces)  # refused when there is no such run
    if len(first) < PIECE:
        return Response(first, media_type="application/json")
    return StreamingResponse(chain((first,), pieces), media_type="application/json")
