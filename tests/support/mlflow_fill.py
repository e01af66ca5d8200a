"""Fill an MLflow by its own client: `mlflow_fill.py URI` makes two experiments, runs with points and files, and a model
with two versions, and prints what it has made as JSON."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from pathlib import Path

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag


def main(address: str) -> None:
    mlflow.set_tracking_uri(address)
    client = MlflowClient()
    first = client.create_experiment("first/of all", tags={"a": "b"})
    second = client.create_experiment("second")
    start = 1_600_000_000_000
    points = [Metric("loss", 1 / (step + 1), start + step, step) for step in range(1500)]
    odd = [Metric("odd", math.nan, start, 0), Metric("odd", 2.5, start + 1, -3)]
    run = client.create_run(first, start_time=start, run_name="parent")
    id = run.info.run_id
    for begin in range(0, 1500, 500):
        client.log_batch(id, points[begin : begin + 500])
    client.log_batch(id, odd, [Param("lr", "0.1"), Param("text", "ä\n'")], [RunTag("team", "red")])
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "sub").mkdir()
        (Path(name) / "sub" / "x.txt").write_text("content", "utf-8")
        (Path(name) / "model").mkdir()
        (Path(name) / "model" / "MLmodel").write_text("flavors: {}", "utf-8")
        client.log_artifacts(id, name)
    client.set_terminated(id, "FINISHED", start + 5000)
    child = client.create_run(first, start_time=start + 1, tags={"mlflow.parentRunId": id})
    client.set_terminated(child.info.run_id, "FAILED", start + 2)
    gone = client.create_run(second, start_time=start + 9)
    client.set_terminated(gone.info.run_id, "KILLED", start + 10)
    client.delete_run(gone.info.run_id)
    client.create_registered_model("m.odel", tags={"k": "v"}, description="said")
    for _ in range(2):
        client.create_model_version("m.odel", client.get_run(id).info.artifact_uri + "/model", id, tags={"x": "y"})
    client.set_registered_model_alias("m.odel", "champion", "2")
    print(json.dumps({"parent": id, "child": child.info.run_id, "gone": gone.info.run_id}))


if __name__ == "__main__":
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    main(sys.argv[1])
