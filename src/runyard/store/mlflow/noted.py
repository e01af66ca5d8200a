"""What the journal of a run holds for MLflow alone: the data and models that a script says it has read and written, and
what it has measured with a model. Whoever wrote it cannot be told of a mistake any more: what has no form is left out.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from runyard.contracts import journal
from runyard.store.errors import NotFound
from runyard.store.mlflow import inputs, logged_models
from runyard.store.mlflow.logged_models import Measured
from runyard.store.tables import runs, workspaces


def take(connection: Connection, run: int, what: str, document: dict[str, Any]) -> None:
    if what == journal.MEASURED:
        _measure(connection, run, document)
        return
    role = inputs.INPUT if what == journal.INPUTS else inputs.OUTPUT
    for each in _objects(document.get("datasets")):
        inputs.add_dataset(connection, run, each)
    models = [each for each in _objects(document.get("models")) if "model_id" in each]
    found = [(str(each["model_id"]), _whole(each.get("step"))) for each in models]
    inputs.add_models(connection, run, role, found)


def _measure(connection: Connection, run: int, document: dict[str, Any]) -> None:
    query = select(runs.c.id, workspaces.c.name).join(workspaces, runs.c.workspace == workspaces.c.serial)
    row = connection.execute(query.where(runs.c.serial == run)).one()
    try:
        when, step = _whole(document.get("timestamp")), _whole(document.get("step"))
        value = Measured(str(document["key"]), float(document["value"]), when, step)
        dataset, digest = document.get("dataset_name"), document.get("dataset_digest")
        logged_models.measure(connection, row.name, str(document["model_id"]), value, dataset, digest, row.id)
    except (KeyError, ValueError, TypeError, NotFound):
        return


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _whole(value: Any) -> int:
    try:
        return int(value or 0)
    except (ValueError, TypeError, OverflowError):
        return 0
