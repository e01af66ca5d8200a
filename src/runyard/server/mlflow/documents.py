"""The JSON of MLflow's protocol: runs and experiments of the store as its client reads them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from runyard.store.metrics.last_values import Last
from runyard.store.mlflow.run_details import RunDetails
from runyard.store.mlflow.run_search import (
    DEFAULT,
    DEFAULT_ID,
    PARENT,
    SCHEDULED,
    SCHEME,
    STATUS,
    USER,
    milliseconds,
)
from runyard.store.runs.experiments import Experiment
from runyard.store.runs.labels import NOTE, RUN_NAME

Json = dict[str, Any]

ACTIVE, DELETED = "active", "deleted"

_STATUS = {state: name for name, several in STATUS.items() for state in several}


def status_of(state: str) -> str:
    return _STATUS.get(state, SCHEDULED)


def public_id(id: str, name: str) -> str:
    """How MLflow's clients know an experiment."""
    return DEFAULT_ID if name == DEFAULT else id


def experiment(row: Experiment) -> Json:
    id = public_id(row.id, row.name)
    return {
        "experiment_id": id,
        "name": row.name,
        "artifact_location": f"{SCHEME}/{id}",
        "lifecycle_stage": ACTIVE if row.archived_at is None else DELETED,
        "creation_time": milliseconds(row.created_at),
        "last_update_time": milliseconds(row.archived_at or row.created_at),
        "tags": [{"key": key, "value": value or ""} for key, value in row.tags.items()],
    }


def run(row: RunDetails) -> Json:
    return {
        "info": run_info(row),
        "data": {
            "metrics": [metric(last) for last in row.metrics],
            "params": [{"key": key, "value": value or ""} for key, value in row.parameters.items()],
            "tags": [{"key": key, "value": value or ""} for key, value in tags_of(row).items()],
        },
        # A client takes a tenth of its time for a run to read that there is nothing of these.
        "inputs": _there(
            dataset_inputs=row.inputs.datasets, model_inputs=[{"model_id": id} for id, _ in row.inputs.models]
        ),
        "outputs": _there(model_outputs=[{"model_id": id, "step": step} for id, step in row.inputs.outputs]),
    }


def _there(**lists: list[Any]) -> Json:
    return {name: found for name, found in lists.items() if found}


def run_info(row: RunDetails) -> Json:
    experiment_id = public_id(row.experiment_id, row.experiment)
    info: Json = {
        "run_id": row.id,
        "run_uuid": row.id,
        "run_name": row.name or row.id,
        "experiment_id": experiment_id,
        "user_id": row.user or "",
        "status": status_of(row.status),
        "start_time": milliseconds(row.started_at or row.created_at),
        "artifact_uri": artifact_uri(experiment_id, row.id),
        "lifecycle_stage": DELETED if row.deleted else ACTIVE,
    }
    if row.ended_at is not None:
        info["end_time"] = milliseconds(row.ended_at)
    return info


def artifact_uri(experiment_id: str, run_id: str) -> str:
    return f"{SCHEME}/{experiment_id}/{run_id}/artifacts"


def tags_of(row: RunDetails) -> dict[str, str | None]:
    """The tags of a run, and what of it MLflow keeps in tags."""
    noted = {key: value for key, value in row.properties.items() if key.startswith("mlflow.")}
    kept: dict[str, str | None] = {RUN_NAME: row.name or row.id, NOTE: row.description, PARENT: row.parent_id}
    found = {key: value for key, value in kept.items() if value is not None}
    if row.user:
        found[USER] = row.user
    return {**noted, **found, **row.tags}


def metric(last: Last) -> Json:
    return {
        "key": last.name,
        "value": number(last.value),
        "timestamp": int(last.time * 1000 + 0.5),
        "step": last.step or 0,
    }


def number(value: float) -> float | str:
    """A number as Protobuf's JSON has it, where some are texts."""
    if math.isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def page(name: str, found: Sequence[Json], token: str | None) -> Json:
    answer: Json = {name: list(found)}
    return {**answer, "next_page_token": token} if token else answer
