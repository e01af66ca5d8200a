"""Fill an MLflow database with the runs of `studio_shape`, as its tables hold them.

fill_studio_mlflow.py FILE RUNS POINTS     prints the experiment and the ids of the first runs
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Iterator

import mlflow

from benchmarks.children import fill_mlflow
from benchmarks.children.studio_shape import COMPARED, Shape, name, values

Point = tuple[str, float, int, str, int]


def main(file: str, runs: str, points: str) -> None:
    shape = Shape(int(runs), int(points))
    mlflow.set_tracking_uri(f"sqlite:///{file}")
    experiment = mlflow.create_experiment("studio")
    with sqlite3.connect(file, timeout=60) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        fill_mlflow.fill(connection, int(experiment), shape.runs + 1)
        query = "SELECT run_uuid FROM runs WHERE experiment_id = ? ORDER BY start_time"
        ids = [row[0] for row in connection.execute(query, (experiment,))]
        named = [(name(number), run) for number, run in enumerate(ids)]
        connection.executemany("UPDATE runs SET name = ? WHERE run_uuid = ?", named)
        connection.executemany("INSERT INTO tags (key, value, run_uuid) VALUES ('mlflow.runName', ?, ?)", named)
        _fill(connection, shape, ids)
    print(json.dumps({"experiment": experiment, "runs": ids[: COMPARED + 1]}))


def _fill(connection: sqlite3.Connection, shape: Shape, ids: list[str]) -> None:
    """Indexes are made again once all is there."""
    query = "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'metrics' AND type = 'index' AND sql IS NOT NULL"
    indexes = connection.execute(query).fetchall()
    for index, _ in indexes:
        connection.execute(f"DROP INDEX {index}")
    columns = "(key, value, timestamp, run_uuid, step, is_nan) VALUES (?, ?, ?, ?, ?, 0)"
    connection.executemany(f"INSERT INTO metrics {columns}", _points(shape, ids, last=False))
    connection.executemany(f"INSERT INTO latest_metrics {columns}", _points(shape, ids, last=True))
    for _, made in indexes:
        connection.execute(made)


def _points(shape: Shape, ids: list[str], last: bool) -> Iterator[Point]:
    now = int(time.time() * 1000) - shape.runs * 1000
    for number, run in enumerate(ids):
        for metric, points in shape.metrics(number).items():
            found = enumerate(values(number, points))
            for step, value in list(found)[-1:] if last else found:
                yield metric, value, now + step, run, step


if __name__ == "__main__":
    main(*sys.argv[1:])
