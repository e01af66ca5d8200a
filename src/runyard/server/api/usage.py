"""Routes of the space that runs, experiments and models take."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.middleware.auth import User
from runyard.server.responses.documents import Json, answer
from runyard.store.content import usage
from runyard.store.content.usage import Usage

router = APIRouter(prefix="/api/usage", tags=["usage"], dependencies=[User])


class Wanted(BaseModel):
    """Runs with all that is below them, or an experiment."""

    model_config = ConfigDict(extra="forbid")

    runs: list[str] = []
    experiment_id: str | None = None


@router.get("", summary="What each experiment and each model takes, the largest first")
def by_experiment(context: Context) -> Response:
    with context.store.database.read() as connection:
        found = usage.by_experiment(connection)
        models = usage.by_model(connection)
    listed = [{"id": each.id, "workspace": each.workspace, "name": each.name, **_figures(each.usage)} for each in found]
    return answer({"experiments": listed, "models": [asdict(each) for each in models]})


@router.post("", summary="What some runs, or an experiment, take together")
def of(body: Wanted, context: Context) -> Response:
    with context.store.database.read() as connection:
        found = usage.of_runs(connection, body.runs)
        if body.experiment_id is not None:
            found += usage.of_experiment(connection, body.experiment_id)
    return answer(_figures(found))


def _figures(found: Usage) -> Json:
    return {"runs": found.runs, "bytes": found.bytes}
