"""Fill an MLflow database with runs: the first one through MLflow, the others in bulk, as its tables hold them.

fill_mlflow.py FILE RUNS     prints the id of the experiment
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import mlflow

EXPERIMENT = "list"
GROUPS = 100


def main(file: str, wanted: str) -> None:
    mlflow.set_tracking_uri(f"sqlite:///{file}")
    experiment = mlflow.create_experiment(EXPERIMENT, artifact_location=(Path(file).parent / "artifacts").as_uri())
    with mlflow.start_run(experiment_id=experiment):
        mlflow.set_tag("group", "0")
    with sqlite3.connect(file) as connection:
        fill(connection, int(experiment), int(wanted))
    print(json.dumps({"experiment": experiment}))


def fill(connection: sqlite3.Connection, experiment: int, wanted: int) -> None:
    runs = [(uuid.uuid4().hex, number) for number in range(1, wanted)]
    columns = (
        "run_uuid, name, source_type, source_name, entry_point_name, user_id, status, start_time, end_time, "
        "source_version, lifecycle_stage, artifact_uri, experiment_id"
    )
    connection.executemany(
        f"INSERT INTO runs ({columns}) VALUES (?, ?, 'LOCAL', '', '', 'user', ?, ?, ?, '', 'active', '', ?)",
        _rows(runs, experiment, wanted),
    )
    connection.executemany(
        "INSERT INTO tags (key, value, run_uuid) VALUES ('group', ?, ?)",
        [(str(number % GROUPS), run) for run, number in runs],
    )


def _rows(runs: list[tuple[str, int]], experiment: int, wanted: int) -> Iterator[tuple[object, ...]]:
    now = int(time.time() * 1000)
    for run, number in runs:
        began = now - (wanted - number) * 1000
        yield run, f"run-{number}", "FAILED" if number % 10 == 0 else "FINISHED", began, began + 300_000, experiment


if __name__ == "__main__":
    main(*sys.argv[1:])
