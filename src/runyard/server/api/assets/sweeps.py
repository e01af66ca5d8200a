"""Routes of sweeps: how the children stand to one another, and letting a sweep have more of them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from runyard.contracts import states
from runyard.contracts.sweeps.sweep import BadSpace
from runyard.scheduler.sweeps.trials import Trial
from runyard.server.context import Context
from runyard.server.middleware.reach import SeenRun, WrittenRun
from runyard.server.requests import sweep as sweep_request
from runyard.server.requests.sweep import ExtensionRequest
from runyard.server.responses import documents
from runyard.server.responses.documents import answer
from runyard.store.assets import sweeps
from runyard.store.assets.sweeps import StoredTrial
from runyard.store.runs import runs

router = APIRouter(prefix="/api/runs/{run_id}/sweep", tags=["sweeps"])


@router.get("", summary="What a sweep is to do, and how its children stand")
def get(run_id: SeenRun, context: Context) -> Response:
    live = context.scheduler.sweeps.trials(run_id)
    with context.store.database.read() as connection:
        stored = sweeps.get(connection, run_id)
        trials = sweeps.find_trials(connection, run_id)
    shown = [_trial(row, live.get(row.number)) for row in trials]
    values = [each for each in shown if each["best"] is not None]
    choose = max if stored.sweep.maximizes else min
    best = choose(values, key=lambda each: each["best"])["run_id"] if values else None
    return answer({**stored.sweep.as_request(), "trials": shown, "best": best})


@router.post("/extend", summary="Let a sweep have more children, also one that has ended")
def extend(run_id: WrittenRun, body: ExtensionRequest, request: Request, context: Context) -> Response:
    try:
        context.scheduler.sweeps.extend(run_id, body.runs)
    except BadSpace as error:
        raise sweep_request.bad(error) from None
    with context.store.database.read() as connection:
        row = runs.get(connection, run_id)
    return answer(documents.run(row, context, request.base_url))


def _trial(row: StoredTrial, live: Trial | None) -> dict[str, Any]:
    """`best` and `intervals` of a trial under way are known to its sweep alone. One that had ended before its policy
    could stop it was not stopped."""
    known = live is not None and row.intervals is None
    return {
        "number": row.number,
        "run_id": row.run_id,
        "parameters": row.parameters,
        "status": row.status,
        "best": live.best if known and live is not None else row.best,
        "intervals": live.intervals if known and live is not None else row.intervals or 0,
        "verdict": None if row.status in (states.COMPLETED, states.FAILED) else row.verdict,
    }
