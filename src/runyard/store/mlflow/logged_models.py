"""Logged models of MLflow 3: a model with an id of its own, whose files are those of a run.

A model that a run has logged is the folder `outputs/<name>` of that run, so it is found there by everybody. One that no
run has logged gets an archived run, to hold its files.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, insert, select, update

from runyard.contracts import names, states
from runyard.store.errors import NotFound, Refused
from runyard.store.runs import runs
from runyard.store.runs.experiments import Experiment
from runyard.store.runs.records import MLFLOW, NewRun
from runyard.store.tables import experiments, logged_models, workspaces
from runyard.store.tables import runs as run_rows

PENDING, READY, FAILED = "LOGGED_MODEL_PENDING", "LOGGED_MODEL_READY", "LOGGED_MODEL_UPLOAD_FAILED"
STATUSES = (PENDING, READY, FAILED)

OUTPUTS = "outputs"
"""The folder of a run's files that MLflow calls its artifacts."""


@dataclass(frozen=True)
class LoggedModel:
    serial: int
    id: str
    experiment_id: str
    experiment: str
    run_id: str  # whose files hold it
    source_run: str | None
    place: str
    name: str
    model_type: str | None
    status: str
    parameters: dict[str, str]
    tags: dict[str, str]
    metrics: list[dict[str, Any]]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class Measured:
    """A value of a metric that was measured with a model; the time is in milliseconds."""

    key: str
    value: float
    timestamp: int
    step: int


def create(
    connection: Connection,
    workspace: str,
    experiment: Experiment,
    name: str,
    source_run: str | None,
    model_type: str | None = None,
    parameters: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
) -> LoggedModel:
    id = f"m-{uuid.uuid4().hex}"
    name = name or f"model-{id[2:8]}"
    try:
        place = names.check_file(f"{OUTPUTS}/{name}")
    except names.BadName as error:
        raise Refused("bad_name", str(error)) from error
    if source_run is not None:
        run = runs.serial_of(connection, source_run)
    else:
        run = _home(connection, workspace, experiment, name)
    taken = select(logged_models.c.serial).where(logged_models.c.run == run, logged_models.c.place == place)
    if connection.execute(taken).first() is not None:
        place = f"{place}-{id}"
    now = datetime.now(timezone.utc)
    connection.execute(
        insert(logged_models).values(
            id=id,
            experiment=select(experiments.c.serial).where(experiments.c.id == experiment.id).scalar_subquery(),
            run=run,
            source_run=source_run,
            place=place,
            name=name,
            model_type=model_type,
            status=PENDING,
            parameters=dict(parameters or {}),
            tags=dict(tags or {}),
            metrics=[],
            created_at=now,
            updated_at=now,
        )
    )
    return get(connection, workspace, id)


def _home(connection: Connection, workspace: str, experiment: Experiment, name: str) -> int:
    """A run that is there for the files of a model alone."""
    made = runs.create(
        connection,
        NewRun(
            id=uuid.uuid4().hex,
            workspace=workspace,
            experiment=experiment.name,
            experiment_id=experiment.id,
            status=states.COMPLETED,
            reason="holds the files of a model",
            kind="interactive",
            type=MLFLOW,
            display_name=name[: names.LONGEST_SHOWN],
        ),
    )
    runs.archive(connection, [made.id], True)
    return runs.serial_of(connection, made.id)


def get(connection: Connection, workspace: str, id: str) -> LoggedModel:
    row = connection.execute(_rows().where(logged_models.c.id == id, workspaces.c.name == workspace)).first()
    if row is None:
        raise NotFound(
            "model_not_found",
            f"There is no logged model {names.shown(id)}.",
            "`mlflow.search_logged_models()` lists them.",
        )
    return _model(row)


def find(
    connection: Connection, workspace: str, ids: Iterable[str], source_run: str | None = None
) -> list[LoggedModel]:
    """The models of some experiments, newest first; with `source_run`, those that it has logged."""
    query = _rows().where(workspaces.c.name == workspace, experiments.c.id.in_(list(ids)))
    if source_run is not None:
        query = query.where(logged_models.c.source_run == source_run)
    return [_model(row) for row in connection.execute(query.order_by(logged_models.c.serial.desc()))]


def change(
    connection: Connection,
    workspace: str,
    id: str,
    status: str | None = None,
    set_tags: Mapping[str, str] | None = None,
    remove_tag: str | None = None,
    add_parameters: Mapping[str, str] | None = None,
) -> LoggedModel:
    before = get(connection, workspace, id)
    if status is not None and status not in STATUSES:
        raise Refused("bad_request", f"{status[:40]!r} is no status of a logged model.", f"Use {', '.join(STATUSES)}.")
    tags = {**before.tags, **(set_tags or {})}
    if remove_tag is not None:
        tags.pop(remove_tag, None)
    _update(
        connection,
        before,
        status=status or before.status,
        tags=tags,
        parameters={**before.parameters, **(add_parameters or {})},
    )
    return get(connection, workspace, id)


def measure(
    connection: Connection,
    workspace: str,
    id: str,
    value: Measured,
    dataset: str | None,
    digest: str | None,
    run_id: str,
) -> None:
    """Note a value that was measured with a model: the last one of each metric, run and dataset."""
    model = get(connection, workspace, id)
    number: float | str = value.value if value.value - value.value == 0 else repr(value.value)
    noted: dict[str, Any] = {
        "key": value.key,
        "value": number,
        "timestamp": value.timestamp,
        "step": value.step,
        "run_id": run_id,
        **({"dataset_name": dataset, "dataset_digest": digest} if dataset else {}),
    }
    others = [each for each in model.metrics if _identity(each) != _identity(noted)]
    _update(connection, model, metrics=[*others, noted])


def remove(connection: Connection, workspace: str, id: str) -> None:
    """Forget a model. Its files stay with its run."""
    model = get(connection, workspace, id)
    connection.execute(delete(logged_models).where(logged_models.c.serial == model.serial))


def _identity(metric: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(metric.get(name) for name in ("key", "run_id", "dataset_name", "dataset_digest"))


def _update(connection: Connection, model: LoggedModel, **values: Any) -> None:
    here = logged_models.c.serial == model.serial
    connection.execute(update(logged_models).where(here).values(updated_at=datetime.now(timezone.utc), **values))


def _rows() -> Select[Any]:
    columns = (
        logged_models,
        experiments.c.id.label("experiment_id"),
        experiments.c.name.label("experiment_name"),
        run_rows.c.id.label("run_id"),
    )
    joined = logged_models.join(experiments, logged_models.c.experiment == experiments.c.serial)
    joined = joined.join(workspaces, workspaces.c.serial == experiments.c.workspace)
    return select(*columns).select_from(joined.join(run_rows, run_rows.c.serial == logged_models.c.run))


def _model(row: Row[Any]) -> LoggedModel:
    return LoggedModel(
        serial=row.serial,
        id=row.id,
        experiment_id=row.experiment_id,
        experiment=row.experiment_name,
        run_id=row.run_id,
        source_run=row.source_run,
        place=row.place,
        name=row.name,
        model_type=row.model_type,
        status=row.status,
        parameters=row.parameters,
        tags=row.tags,
        metrics=row.metrics,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
