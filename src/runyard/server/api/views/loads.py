"""The route that shows what the nodes of all live runs of a workspace are doing now."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from runyard.contracts import states
from runyard.server.context import Context
from runyard.server.middleware.auth import User
from runyard.server.responses import documents
from runyard.server.responses.documents import Json, answer
from runyard.store.metrics import latest, staging
from runyard.store.runs import runs
from runyard.store.runs.filter import RunFilter
from runyard.store.runs.runs import Run

GOING = (states.RUNNING, states.FINALIZING, states.CANCEL_REQUESTED, states.NOT_RESPONDING, states.PREPARING)
WAITING = (states.QUEUED, states.STARTING, states.PROVISIONING, states.NOT_STARTED)
WATCHED = 50
"""Of so many runs the newest numbers are fetched for whoever looks; of more, those that have come by themselves."""

router = APIRouter(prefix="/api/workspaces/{workspace}/load", tags=["metrics"], dependencies=[User])


@router.get("", summary="What the nodes of live runs are doing now")
def find(
    workspace: str,
    request: Request,
    context: Context,
    limit: Annotated[int, Query(ge=1, le=500, description="at most so many runs of each state")] = 100,
) -> Response:
    """The newest run first; those that wait come last, without nodes."""
    with context.store.database.read() as connection:
        found: list[Run] = []
        for status in (*GOING, *WAITING):
            wanted = RunFilter(workspace=workspace, status=status, include_children=True, archived=True)
            found += runs.find(connection, wanted, limit)[0]
    going = [row.id for row in found if row.status in GOING]
    if len(going) <= WATCHED:
        context.pace.notice(going)
    staging.settle(context.store.database, going)
    with context.store.database.read() as connection:
        loads = latest.loads(connection, going)
    shown: list[Json] = []
    for row in found:
        document = documents.run(row, context, request.base_url)
        kept = ("id", "display_name", "experiment", "status", "reason", "target", "nodes", "created_at", "started_at")
        of_run = {key: document[key] for key in kept}
        shown.append({**of_run, "load": [asdict(each) for each in loads.get(row.id, ())]})
    return answer({"runs": shown})
