"""Routes of experiments."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from runyard.contracts import names
from runyard.server.context import Context
from runyard.server.middleware.auth import User
from runyard.server.middleware.reach import ReadExperiment, Within
from runyard.server.requests.labels import pairs
from runyard.server.responses import documents
from runyard.server.responses.documents import answer
from runyard.store import damage
from runyard.store.content import deletion
from runyard.store.runs import experiments

router = APIRouter(prefix="/api", tags=["experiments"])

View = Literal["ActiveOnly", "ArchivedOnly", "All"]


class ExperimentChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    set_tags: dict[str, str | None] = {}
    remove_tags: list[str] = []
    archived: bool | None = None
    name: str | None = None


@router.put("/workspaces/{workspace}/experiments/{name}", summary="Make an experiment if it is not there")
def ensure(workspace: Within, name: str, context: Context) -> Response:
    names.check("experiment", name)
    with context.store.database.write() as connection:
        row = experiments.ensure(connection, workspace, name)
    return answer(documents.experiment(row))


@router.get("/workspaces/{workspace}/experiments", summary="List the experiments of a workspace, newest first")
def find(
    workspace: Within,
    context: Context,
    view: View = "ActiveOnly",
    name: str | None = None,
    tag: Annotated[list[str], Query(description="`key` or `key=value`")] = [],  # noqa: B006
) -> Response:
    with context.store.database.read() as connection:
        rows = experiments.find(connection, workspace, view, name, pairs(tag))
        damaged = damage.seen(connection)
    return answer({"experiments": [documents.experiment(row) for row in rows], "damaged": damaged})


@router.get("/experiments/{id}", summary="One experiment")
def get(id: ReadExperiment, context: Context) -> Response:
    with context.store.database.read() as connection:
        row = experiments.get(connection, id)
    return answer(documents.experiment(row))


@router.patch("/experiments/{id}", summary="Tag, archive, reactivate or rename an experiment", dependencies=[User])
def update(id: str, body: ExperimentChange, context: Context) -> Response:
    if body.name is not None:
        names.check("experiment", body.name)
    with context.store.database.write() as connection:
        row = experiments.update(connection, id, body.set_tags, body.remove_tags, body.archived, body.name)
    return answer(documents.experiment(row))


@router.delete("/experiments/{id}", summary="Delete an experiment with its runs", dependencies=[User])
def delete(id: str, context: Context) -> Response:
    left = [run.id for run in context.scheduler.left() if run.experiment_id == id]
    freed = deletion.delete_experiment(context.store, id)
    for run_id in left:
        context.scheduler.forget(run_id)
    return answer(documents.freed(freed))
