"""The sweeps of a workspace, and the page of one: the best so far, curves, parameters, why a child was stopped."""

from __future__ import annotations

import math
from typing import Annotated, Any

from fastapi import Query, Request
from sqlalchemy import Connection
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.responses import documents
from runyard.server.studio import templating
from runyard.server.studio.page import Viewer, pages
from runyard.store.assets import sweeps
from runyard.store.runs import runs
from runyard.store.runs.filter import RunFilter
from runyard.store.runs.runs import Run

SWEEP = "hyperdrive"
ON_A_PAGE = 50

router = pages("/studio/{workspace}/sweeps")


@router.get("")
def show(
    workspace: str,
    request: Request,
    viewer: Viewer,
    context: Context,
    after: Annotated[str | None, Query(max_length=20)] = None,
) -> Response:
    with context.store.database.read() as connection:
        wanted = RunFilter(workspace=workspace, type=SWEEP, include_children=True)
        rows, following = runs.find(connection, wanted, ON_A_PAGE, after)
        listed = [_summary(connection, context.scheduler.seen(row)) for row in rows]
    return templating.render(
        request,
        "sweeps.html",
        workspace=workspace,
        section="sweeps",
        title="Sweeps",
        sweeps=listed,
        following=following,
    )


@router.get("/{run_id}")
def show_one(workspace: str, run_id: str, request: Request, viewer: Viewer, context: Context) -> Response:
    with context.store.database.read() as connection:
        row = context.scheduler.seen(runs.get(connection, run_id))
        stored = sweeps.get(connection, run_id)
    run = documents.run(row, context, request.base_url)
    return templating.render(
        request,
        "sweep.html",
        workspace=workspace,
        section="sweeps",
        title=row.display_name or row.id,
        run=run,
        sweep=stored.sweep.as_request(),
        data={"run": run["id"], "status": run["status"]},
    )


def _summary(connection: Connection, row: Run) -> dict[str, Any]:
    sweep = sweeps.get(connection, row.id).sweep
    trials = sweeps.find_trials(connection, row.id)
    counts: dict[str, int] = {}
    for trial in trials:
        counts[trial.status or "waiting"] = counts.get(trial.status or "waiting", 0) + 1
    known = [each.best for each in trials if each.best is not None and math.isfinite(each.best)]
    choose = max if sweep.maximizes else min
    return {
        "id": row.id,
        "name": row.display_name or row.id,
        "experiment": row.experiment,
        "status": row.status,
        "metric": sweep.metric,
        "goal": "largest" if sweep.maximizes else "smallest",
        "best": choose(known) if known else None,
        "counts": counts,
        "wanted": sweep.runs,
        "made": len(trials),
        "created_at": row.created_at,
    }
