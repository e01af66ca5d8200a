"""Routes that compare runs: what differs in how they were started and in what they measured, and in their source."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from runyard.contracts import manifest
from runyard.contracts.manifest import Manifest
from runyard.server.context import Context, ServerContext
from runyard.server.middleware import reach
from runyard.server.middleware.auth import AnyCaller, Caller
from runyard.server.responses import comparison, documents, source_diff
from runyard.server.responses.documents import Json, answer
from runyard.store.content import snapshots
from runyard.store.metrics import curves, staging, streaming
from runyard.store.metrics.streaming import Asked
from runyard.store.runs import runs

MOST = 100
"""Runs beside one another."""
MOST_NAMES = 20
"""Metrics whose curves are asked for at once."""
MOST_POINTS = 4000
"""Of each curve: more than a screen has columns."""
MOST_TOGETHER = 2_000_000
"""Points that an answer is made for, in memory: where very many curves are asked for, each has fewer."""

router = APIRouter(prefix="/api/comparisons", tags=["comparisons"])

Compared = Annotated[list[str], Query(min_length=2, max_length=MOST, description="ids of runs")]


@router.get("", summary="Several runs, and what differs")
def compare(run: Compared, request: Request, caller: AnyCaller, context: Context) -> Response:
    wanted = list(dict.fromkeys(run))
    found = [_document(context, caller, run_id, request) for run_id in wanted]
    staging.settle(context.store.database, wanted)
    pieces = streaming.document(context.store.database, wanted, Asked(buckets=1))
    metrics = json.loads(b"".join(pieces))["metrics"]
    rows = comparison.rows(found, metrics)
    plain = [{key: value for key, value in each.items() if key not in ("definition", "launch")} for each in found]
    return answer({"runs": plain, "rows": rows})


@router.get("/curves", summary="Metrics of several runs as columns of numbers")
def draw(
    run: Annotated[list[str], Query(min_length=1, max_length=MOST, description="ids of runs")],
    name: Annotated[list[str], Query(min_length=1, max_length=MOST_NAMES, description="names of metrics")],
    caller: AnyCaller,
    context: Context,
    buckets: Annotated[int, Query(ge=1, le=MOST_POINTS, description="at most so many points of each")] = 1000,
    bands: Annotated[bool, Query(description="with the extremes of what each point stands for")] = False,
) -> Response:
    wanted = list(dict.fromkeys(run))
    for run_id in wanted:
        reach.must_read(context, caller, run_id)
    staging.settle(context.store.database, wanted)
    names = list(dict.fromkeys(name))
    most = min(buckets, max(1, MOST_TOGETHER // (len(wanted) * len(names))))
    return answer({"curves": list(curves.curves(context.store.database, wanted, names, most, bands))})


@router.get("/source", summary="What differs between the source of two runs")
def source(
    run: Annotated[list[str], Query(min_length=2, max_length=2, description="ids of two runs")],
    caller: AnyCaller,
    context: Context,
) -> Response:
    first, second = (_manifest(context, caller, run_id) for run_id in run)

    def read(digest: str) -> bytes:
        with context.store.objects.open(digest) as stream:
            return stream.read()

    return answer({"runs": run, "files": list(source_diff.changes(first, second, read))})


def _document(context: ServerContext, caller: Caller, run_id: str, request: Request) -> Json:
    reach.must_read(context, caller, run_id)
    with context.store.database.read() as connection:
        row = runs.get(connection, run_id)
        _, launch = runs.definition_and_launch(connection, run_id)
    if launch is not None and not reach.may_lead(context, caller, run_id):
        launch = documents.without_variables(launch)
    return {**documents.run(row, context, request.base_url), "launch": launch, "parameters": row.parameters}


def _manifest(context: ServerContext, caller: Caller, run_id: str) -> Manifest:
    reach.must_read(context, caller, run_id)
    with context.store.database.read() as connection:
        row = runs.get(connection, run_id)
        text = b"" if row.snapshot_id is None else snapshots.manifest_text(connection, row.snapshot_id)
    return manifest.parse(text)
