"""Routes of the table of runs: a page of it, its groups, what its columns may be, and all of it as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response, StreamingResponse

from runyard.contracts.states import TERMINAL
from runyard.server.context import Context, ServerContext
from runyard.server.middleware.auth import User
from runyard.server.responses import run_rows
from runyard.server.responses.documents import Json, answer
from runyard.store.metrics import staging
from runyard.store.runs import query_language, table
from runyard.store.runs.table import Asked, Columns

MOST = 500
"""Rows of a page."""
FEW = 200
"""Runs whose newest points are taken in before runs are found or sorted by a metric. With more such runs, the last
values may be some seconds old."""

router = APIRouter(prefix="/api/workspaces/{workspace}/table", tags=["table"], dependencies=[User])


def asked(
    workspace: str,
    filter: Annotated[str, Query(description="such as `status:failed metrics.acc>0.9 tag.owner=me`")] = "",
    sort: Annotated[str, Query(description="such as `-metrics.acc`; a minus is for the largest first")] = "-created",
    children: Annotated[bool, Query(description="with the runs that are below others")] = False,
    parent: Annotated[str | None, Query(description="the children of this run alone")] = None,
) -> Asked:
    return Asked(workspace, query_language.parse(filter), table.sort_of(sort), children, parent)


def columns(
    metric: Annotated[list[str], Query(max_length=table.MOST_NAMES)] = [],  # noqa: B006
    param: Annotated[list[str], Query(max_length=table.MOST_NAMES)] = [],  # noqa: B006
    tag: Annotated[list[str], Query(max_length=table.MOST_NAMES)] = [],  # noqa: B006
) -> Columns:
    return Columns(metric, param, tag)


AskedFor = Annotated[Asked, Depends(asked)]
Shown = Annotated[Columns, Depends(columns)]


@router.get("", summary="A page of the runs that a sentence finds")
def page(
    wanted: AskedFor,
    shown: Shown,
    context: Context,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    total: Annotated[bool, Query(description="with how many there are")] = False,
) -> Response:
    return answer(document(context, wanted, shown, limit, offset, total))


def document(
    context: ServerContext, wanted: Asked, shown: Columns, limit: int, offset: int = 0, total: bool = False
) -> Json:
    """The same for a page of the studio, which begins with it."""
    _take_in(context, wanted)
    with context.store.database.read() as connection:
        found = table.page(connection, wanted, limit + 1, offset)
        many = table.count(connection, wanted) if total else None
    going = [run.id for run in found if run.status not in TERMINAL]
    if going:
        context.pace.notice(going)
    if shown.metrics:
        staging.settle(context.store.database, [run.id for run in found])
    with context.store.database.read() as connection:
        rows = table.rows(connection, found[:limit], shown)
    return {
        "runs": [run_rows.row(each, shown, context) for each in rows],
        "more": len(found) > limit,
        "total": many,
    }


@router.get("/groups", summary="The runs that a sentence finds, by what they have in common")
def groups(
    wanted: AskedFor,
    context: Context,
    by: Annotated[str, Query(description="such as `experiment`, `status`, `tag.owner`, `params.lr`")],
    metric: Annotated[list[str], Query(max_length=8)] = [],  # noqa: B006
    limit: Annotated[int, Query(ge=1, le=MOST)] = 100,
) -> Response:
    _take_in(context, wanted, bool(metric))
    with context.store.database.read() as connection:
        found = table.groups(connection, wanted, table.sort_of(by), metric, limit)
    return answer({"groups": [run_rows.group(each) for each in found]})


@router.get("/columns", summary="The names of metrics, parameters, tags and properties of the newest runs")
def names(workspace: str, context: Context, limit: Annotated[int, Query(ge=1, le=10_000)] = 500) -> Response:
    staging.settle_few(context.store.database, FEW)
    with context.store.database.read() as connection:
        found = table.names(connection, workspace, limit)
    return answer({"columns": found, "fields": query_language.FIELDS, "flags": query_language.FLAGS})


@router.get("/values", summary="What a field, a tag or a parameter has been in the newest runs")
def values(
    workspace: str,
    context: Context,
    field: Annotated[str, Query(description="such as `status`, `experiment`, `tag.owner`")],
    begin: str = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Response:
    with context.store.database.read() as connection:
        found = table.values(connection, workspace, table.sort_of(field), begin, limit)
    return answer({"values": found})


@router.get("/csv", summary="All runs that a sentence finds, as CSV", response_class=StreamingResponse)
def as_csv(wanted: AskedFor, shown: Shown, context: Context) -> Response:
    headers = {"Content-Disposition": 'attachment; filename="runs.csv"', "X-Content-Type-Options": "nosniff"}
    _take_in(context, wanted, bool(shown.metrics))
    with context.store.database.read() as connection:  # refused before anything is sent
        serials = table.serials(connection, wanted, 10_000_000)
    return StreamingResponse(_lines(context, serials, shown), media_type="text/csv; charset=utf-8", headers=headers)


def _take_in(context: ServerContext, wanted: Asked, shown: bool = False) -> None:
    """Have the newest points counted where runs are found, sorted or summed up by them."""
    if shown or wanted.sort.family == query_language.METRIC or query_language.uses_metrics(wanted.filter):
        staging.settle_few(context.store.database, FEW)


def _lines(context: ServerContext, serials: Sequence[int], shown: Columns) -> Iterator[bytes]:
    yield _line(run_rows.csv_head(shown))
    for start in range(0, len(serials), MOST):
        with context.store.database.read() as connection:
            rows = table.rows_of(connection, serials[start : start + MOST], shown)
        yield b"".join(_line(run_rows.csv_cells(each, shown)) for each in rows)


def _line(cells: Sequence[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue().encode("utf-8", "replace")
