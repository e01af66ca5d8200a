"""Routes of runs: making, finding, changing, stopping and deleting them, and the reports of their reporters."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, JsonValue
from starlette.responses import Response

from runyard.server.context import Context, ServerContext
from runyard.server.middleware import reach
from runyard.server.middleware.auth import AnyCaller, Caller, User, run_token
from runyard.server.middleware.reach import LedRun, SeenRun, WrittenRun
from runyard.server.requests import facts
from runyard.server.requests import run as run_request
from runyard.server.requests.facts import FactReport
from runyard.server.requests.labels import pairs
from runyard.server.requests.run import RunRequest
from runyard.server.responses import documents
from runyard.server.responses.documents import answer
from runyard.server.responses.run_details import details
from runyard.server.threads import in_writer_thread
from runyard.store import damage
from runyard.store.content import deletion, snapshots, usage
from runyard.store.runs import family, runs
from runyard.store.runs.filter import NEWEST, Order, RunFilter

router = APIRouter(prefix="/api/runs", tags=["runs"])

ChildrenQuery = Annotated[bool, Query(description="add how many direct children a run has, by their states")]


class RunChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    set_tags: dict[str, str | None] = {}
    remove_tags: list[str] = []
    add_properties: dict[str, str | None] = {}
    display_name: str | None = None
    description: str | None = None
    name: str | None = None
    snapshot_id: str | None = None


class EndRequest(BaseModel):
    """How somebody other than its reporter wants a run to end."""

    model_config = ConfigDict(extra="forbid")

    outcome: Literal["completed", "failed"]
    error: dict[str, JsonValue] | None = None


@router.post("", status_code=201, summary="Make a run")
def create(
    body: RunRequest,
    request: Request,
    caller: AnyCaller,
    context: Context,
    whole_snapshot: Annotated[
        bool, Query(description="refuse a snapshot that a run found incomplete: it is to be offered first")
    ] = False,
) -> Response:
    run = run_request.make(context, caller, body, whole_snapshot)
    context.scheduler.submitted(run)
    context.live.touch(run.id)
    token = run_token(context.settings.secret, run.id)
    return answer({**documents.run(run, context, request.base_url), "token": token}, 201)


@router.get("", summary="Find runs")
def find(
    request: Request,
    caller: AnyCaller,
    context: Context,
    workspace: str | None = None,
    experiment: str | None = None,
    type: str | None = None,
    status: str | None = None,
    tag: Annotated[list[str], Query(description="`key` or `key=value`")] = [],  # noqa: B006
    property: Annotated[list[str], Query(description="`key` or `key=value`")] = [],  # noqa: B006
    parameter: Annotated[list[str], Query(description="`key` or `key=value`")] = [],  # noqa: B006
    parent: Annotated[str | None, Query(description="direct children of this run")] = None,
    root: Annotated[str | None, Query(description="all descendants of this run")] = None,
    target: str | None = None,
    short: Annotated[str | None, Query(description="the beginning of an id, or its last part")] = None,
    part: Annotated[str | None, Query(description="any part of an id")] = None,
    before: Annotated[AwareDatetime | None, Query(description="runs that were made before that time")] = None,
    order: Order = NEWEST,
    sizes: Annotated[bool, Query(description="add the bytes of each run's files and logs")] = False,
    children: ChildrenQuery = False,
    include_children: bool = False,
    services: Annotated[bool, Query(description="with the runs that are replicas of services")] = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    after: Annotated[str | None, Query(description="`next` of the former answer")] = None,
) -> Response:
    wanted = RunFilter(
        workspace=_listed(context, caller, workspace, parent, root),
        experiment=experiment,
        type=type,
        status=status,
        tags=pairs(tag),
        properties=pairs(property),
        parameters=pairs(parameter),
        parent=parent,
        root=root,
        target=target,
        short=short,
        part=part,
        before=before,
        include_children=include_children,
        services=services,
        order=order,
    )
    with context.store.database.read() as connection:
        rows, cursor = runs.find(connection, wanted, limit, after)
        taken = usage.by_run(connection, [row.id for row in rows]) if sizes else {}
        below = family.children(connection, [row.id for row in rows]) if children else {}
        damaged = damage.seen(connection)
    found = [documents.run(row, context, request.base_url) for row in rows]
    for run in found if sizes else ():
        run["size"] = taken[run["id"]]
    for run in found if children else ():
        run["children"] = below.get(run["id"], {})
    return answer({"runs": found, "next": cursor, "damaged": damaged})


@router.get("/{run_id}", summary="One run with all that is known of it")
def get(
    run_id: SeenRun, request: Request, caller: AnyCaller, context: Context, children: ChildrenQuery = False
) -> Response:
    return answer(details(context, run_id, request.base_url, reach.may_lead(context, caller, run_id), children))


@router.patch("/{run_id}", summary="Tag or rename a run, or add properties")
def update(run_id: WrittenRun, body: RunChange, request: Request, context: Context) -> Response:
    changes: dict[str, Any] = body.model_dump(exclude_unset=True)
    with context.store.database.write() as connection:
        if body.snapshot_id is not None:
            snapshots.manifest_text(connection, body.snapshot_id)  # refused when there is none
        row = runs.update(connection, run_id, **changes)
    context.live.touch(run_id)
    return answer(documents.run(row, context, request.base_url))


@router.post("/{run_id}/facts", summary="Report what was seen of a run")
async def report(run_id: LedRun, body: FactReport, context: Context) -> Response:
    run = await in_writer_thread(context.scheduler.report, run_id, facts.fact_of(body))
    over = body.attempt is not None and body.attempt < run.attempt
    return answer({"status": run.status, "over": True} if over else {"status": run.status})


@router.post("/{run_id}/cancel", summary="Ask a run to stop")
def cancel(run_id: WrittenRun, request: Request, context: Context) -> Response:
    return answer(documents.run(context.scheduler.cancel(run_id), context, request.base_url))


@router.post("/{run_id}/end", summary="End a run as completed or failed, its script included")
def end(run_id: WrittenRun, body: EndRequest, request: Request, context: Context) -> Response:
    run = context.scheduler.declare(run_id, body.outcome, facts.in_form(body.error))
    return answer(documents.run(run, context, request.base_url))


@router.delete("/{run_id}", summary="Delete a run and its descendants for good", dependencies=[User])
def delete(run_id: str, context: Context) -> Response:
    with context.store.database.read() as connection:
        gone = [run_id, *runs.descendants(connection, run_id)]
    freed = deletion.delete_runs(context.store, [run_id])
    for each in gone:
        context.scheduler.forget(each)
        context.live.touch(each)
    return answer(documents.freed(freed))


def _listed(
    context: ServerContext, caller: Caller, workspace: str | None, parent: str | None, root: str | None
) -> str | None:
    """The workspace whose runs the caller may list; a run lists those of its own, or what is below a run that it
    reads."""
    if caller.run_id is None:
        return workspace
    above = [each for each in (parent, root) if each is not None]
    for each in above:
        reach.must_read(context, caller, each)
    if above and workspace is None:
        return None
    workspace = workspace if workspace is not None else reach.workspace_of(context, caller)
    reach.must_be_within(context, caller, workspace)
    return workspace
