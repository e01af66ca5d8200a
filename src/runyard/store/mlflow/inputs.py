"""What a run has read and written, as MLflow's client says it: datasets, and logged models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from runyard.store.slices import slices
from runyard.store.tables import fingerprint, run_datasets, run_models, runs

INPUT, OUTPUT = "input", "output"

MOST = 1000
"""Datasets of an experiment that are listed."""

CONTEXT = "mlflow.data.context"
"""The tag that says what a dataset was used for."""


@dataclass
class Inputs:
    """`datasets` in the form in which they were sent; models as pairs of an id and a step."""

    datasets: list[dict[str, Any]] = field(default_factory=list)
    models: list[tuple[str, int]] = field(default_factory=list)
    outputs: list[tuple[str, int]] = field(default_factory=list)


def add_dataset(connection: Connection, run: int, document: dict[str, Any]) -> None:
    """Note a dataset, in the form of MLflow's `DatasetInput`. One that is noted already gets other tags."""
    dataset = document.get("dataset") or {}
    name, digest = str(dataset.get("name") or ""), str(dataset.get("digest") or "")
    tags = {str(tag.get("key")): str(tag.get("value")) for tag in document.get("tags") or []}
    context = tags.get(CONTEXT)
    identity = fingerprint(name, digest, context or "")
    connection.execute(delete(run_datasets).where(run_datasets.c.run == run, run_datasets.c.identity == identity))
    connection.execute(
        insert(run_datasets).values(
            run=run, identity=identity, name=name, digest=digest, context=context, document=document
        )
    )


def add_models(connection: Connection, run: int, role: str, models: Iterable[tuple[str, int]]) -> None:
    for model_id, step in models:
        mine = (run_models.c.run == run, run_models.c.role == role, run_models.c.model_id == model_id)
        connection.execute(delete(run_models).where(*mine))
        connection.execute(insert(run_models).values(run=run, role=role, model_id=model_id, step=step))


def of_runs(connection: Connection, runs: Sequence[int]) -> dict[int, Inputs]:
    """What some runs have read and written, by the serial of each; those without anything are left out."""
    found: dict[int, Inputs] = {}
    for some in slices(list(runs)):
        datasets = select(run_datasets.c.run, run_datasets.c.document).where(run_datasets.c.run.in_(some))
        for row in connection.execute(datasets.order_by(run_datasets.c.serial)):
            found.setdefault(row.run, Inputs()).datasets.append(row.document)
        models = select(run_models).where(run_models.c.run.in_(some)).order_by(run_models.c.step)
        for row in connection.execute(models):
            here = found.setdefault(row.run, Inputs())
            (here.models if row.role == INPUT else here.outputs).append((row.model_id, row.step))
    return found


def of_experiments(connection: Connection, experiments: Sequence[int]) -> list[tuple[str, str, str | None]]:
    """The name, digest and context of each dataset that runs of some experiments have read, by serials."""
    wanted = select(run_datasets.c.name, run_datasets.c.digest, run_datasets.c.context).distinct()
    wanted = wanted.join(runs, runs.c.serial == run_datasets.c.run).where(runs.c.experiment.in_(experiments))
    return [(row.name, row.digest, row.context) for row in connection.execute(wanted.limit(MOST))]
