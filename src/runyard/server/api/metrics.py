"""The route that reads the metrics of runs."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from runyard.server.context import Context
from runyard.server.middleware.reach import SeenRun
from runyard.server.responses.documents import answer
from runyard.store.metrics import series, staging, streaming
from runyard.store.metrics.streaming import Asked
from runyard.store.runs import runs

PIECE = 1 << 17
"""A shorter answer is sent as a whole; a longer one in pieces of about this size."""

MOST_NAMES = 500
"""Metrics that are asked for by name at once."""

router = APIRouter(prefix="/api/runs/{run_id}/metrics", tags=["metrics"])


@router.get("", summary="Metrics of a run, whole or downsampled")
def read(
    run_id: SeenRun,
    context: Context,
    name: Annotated[list[str] | None, Query(max_length=MOST_NAMES, description="only these metrics")] = None,
    recursive: Annotated[bool, Query(description="with those of all descendants")] = False,
    buckets: Annotated[int | None, Query(ge=1, le=100_000, description="at most so many points of a series")] = None,
    limit: Annotated[int | None, Query(ge=1, le=100_000, description="at most so many metrics of a run")] = None,
    by_rank: Annotated[bool, Query(description="a series for each rank that logged it")] = False,
    source: Annotated[
        Literal["", "system", "events"],
        Query(description="what was observed from there, instead of what the run has logged"),
    ] = "",
    first: Annotated[int, Query(ge=0, description="with `buckets`: from this point of each series")] = 0,
    until: Annotated[int | None, Query(ge=1, description="with `buckets`: to before this point")] = None,
) -> Response:
    wanted = [run_id]
    if recursive:
        with context.store.database.read() as connection:
            wanted += runs.descendants(connection, run_id)
        context.pace.notice(wanted)
    staging.settle(context.store.database, wanted)
    window = (first, until) if first or until else None
    asked = Asked(tuple(name or ()) or None, buckets, limit, by_rank, source, window)
    pieces = streaming.gathered(streaming.document(context.store.database, wanted, asked), PIECE)
    beginning = next(pieces)  # refused when there is no such run
    if len(beginning) < PIECE:
        return Response(beginning, media_type="application/json")
    return StreamingResponse(chain((beginning,), pieces), media_type="application/json")


@router.get("/names", summary="What metrics of a run there are, without their points")
def names(run_id: SeenRun, context: Context) -> Response:
    staging.settle(context.store.database, [run_id])
    with context.store.database.read() as connection:
        found = series.find(connection, run_id)
    heads = [{**metric.head(metric.points), "type": metric.rows[0].type or None} for metric in found]
    return answer({"metrics": heads})
