"""The route that reads the metrics of runs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.middleware.reach import SeenRun
from runyard.server.responses.documents import answer
from runyard.store.metrics import series, staging
from runyard.store.runs import runs

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
) -> Response:
    with context.store.database.read() as connection:
        runs.get(connection, run_id)
        wanted = [run_id, *runs.descendants(connection, run_id)] if recursive else [run_id]
    if recursive:
        context.pace.notice(wanted)
    staging.settle(context.store.database, wanted)
    with context.store.database.read() as connection:
        found = {each: series.read(connection, each, name, buckets, limit, by_rank) for each in wanted}
    return answer({"metrics": {each: metrics for each, metrics in found.items() if metrics}})
