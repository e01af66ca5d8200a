"""Fill an MLflow database with runs to search: each has the last value of a metric, and a parameter.

fill_searched_mlflow.py FILE RUNS
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time

import mlflow

from benchmarks.children import fill_mlflow
from benchmarks.children.searched_shape import METRIC, PARAMETER, metric, parameter


def main(file: str, runs: str) -> None:
    mlflow.set_tracking_uri(f"sqlite:///{file}")
    experiment = mlflow.create_experiment(fill_mlflow.EXPERIMENT)
    wanted = int(runs)
    now = int(time.time() * 1000)
    with sqlite3.connect(file, timeout=60) as connection:
        fill_mlflow.fill(connection, int(experiment), wanted + 1)
        query = "SELECT run_uuid FROM runs WHERE experiment_id = ? ORDER BY start_time"
        made = [(number, row[0]) for number, row in enumerate(connection.execute(query, (experiment,)))]
        points = [(METRIC, metric(number, wanted), now, run, 0) for number, run in made]
        for table in ("metrics", "latest_metrics"):
            columns = "(key, value, timestamp, run_uuid, step, is_nan) VALUES (?, ?, ?, ?, ?, 0)"
            connection.executemany(f"INSERT INTO {table} {columns}", points)
        texts = [(PARAMETER, parameter(number), run) for number, run in made]
        connection.executemany("INSERT INTO params (key, value, run_uuid) VALUES (?, ?, ?)", texts)
    print(json.dumps({"runs": len(made)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
