"""Runs as MLflow shows them: many at once, each with the last values of its metrics, its parameters and its tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select

from runyard.store.errors import run_not_found
from runyard.store.metrics import last_values
from runyard.store.metrics.last_values import Last
from runyard.store.mlflow import inputs
from runyard.store.mlflow.inputs import Inputs
from runyard.store.runs import labels
from runyard.store.slices import slices
from runyard.store.tables import experiments, runs, workspaces


@dataclass(frozen=True)
class RunDetails:
    """A run with all that MLflow asks of it at once."""

    serial: int
    id: str
    experiment_id: str
    experiment: str
    workspace: str
    kind: str
    name: str | None
    description: str | None
    parent_id: str | None
    status: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    user: str | None
    deleted: bool
    metrics: list[Last]
    parameters: dict[str, str | None]
    tags: dict[str, str | None]
    properties: dict[str, str | None]
    inputs: Inputs


def get(connection: Connection, run_id: str) -> RunDetails:
    row = connection.execute(_rows().where(runs.c.id == run_id)).first()
    if row is None:
        raise run_not_found(run_id)
    return _with_details(connection, [row])[0]


def of_serials(connection: Connection, serials: Sequence[int]) -> list[RunDetails]:
    """Runs by their serials, in this order."""
    found: dict[int, Row[Any]] = {}
    for some in slices(list(serials)):
        found.update((row.serial, row) for row in connection.execute(_rows().where(runs.c.serial.in_(some))).all())
    return _with_details(connection, [found[serial] for serial in serials if serial in found])


def _rows() -> Select[Any]:
    columns = (
        *(runs.c.serial, runs.c.id, runs.c.kind, runs.c.display_name, runs.c.name, runs.c.description),
        *(runs.c.parent_id, runs.c.status, runs.c.created_at, runs.c.started_at, runs.c.ended_at, runs.c.submitted_by),
        experiments.c.id.label("experiment_id"),
        experiments.c.name.label("experiment"),
        func.coalesce(runs.c.archived_at, experiments.c.archived_at).label("archived_at"),
        workspaces.c.name.label("workspace"),
    )
    of_experiment = runs.join(experiments, runs.c.experiment == experiments.c.serial)
    return select(*columns).select_from(of_experiment.join(workspaces, runs.c.workspace == workspaces.c.serial))


def _with_details(connection: Connection, rows: Sequence[Row[Any]]) -> list[RunDetails]:
    serials = [row.serial for row in rows]
    metrics = last_values.of_runs(connection, serials)
    texts = labels.of(connection, serials)
    read = inputs.of_runs(connection, serials)
    return [
        RunDetails(
            serial=row.serial,
            id=row.id,
            experiment_id=row.experiment_id,
            experiment=row.experiment,
            workspace=row.workspace,
            kind=row.kind,
            name=row.display_name or row.name,
            description=row.description,
            parent_id=row.parent_id,
            status=row.status,
            created_at=row.created_at,
            started_at=row.started_at,
            ended_at=row.ended_at,
            user=row.submitted_by,
            deleted=row.archived_at is not None,
            metrics=metrics.get(row.serial, []),
            parameters=texts.get((row.serial, labels.PARAMETER), {}),
            tags=texts.get((row.serial, labels.TAG), {}),
            properties=texts.get((row.serial, labels.PROPERTY), {}),
            inputs=read.get(row.serial, Inputs()),
        )
        for row in rows
    ]
