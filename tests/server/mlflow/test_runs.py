"""Runs by MLflow's protocol: their ends, their children, and jobs that a client cannot end."""

from __future__ import annotations

from tests.server.conftest import Served
from tests.server.mlflow.conftest import Mlflow


def test_how_a_run_ends_and_goes_on(mlflow: Mlflow) -> None:
    run = mlflow.run(mlflow.experiment(), run_name="named")

    def state() -> str:
        return str(mlflow.client.ok("GET", f"/api/runs/{run}")["status"])

    for status, expected in (
        ("FINISHED", "Completed"),
        ("3", "Completed"),
        ("FAILED", "Failed"),
        ("KILLED", "Canceled"),
    ):
        told = mlflow.ok("POST", "runs/update", {"run_id": run, "status": status, "end_time": 1_900_000_000_000})
        assert state() == expected
        assert told["run_info"]["end_time"] <= 1_900_000_000_000
    mlflow.ok("POST", "runs/update", {"run_id": run, "status": "RUNNING"})
    assert state() == "Running"
    mlflow.ok("POST", "runs/set-tag", {"run_id": run, "key": "mlflow.runName", "value": "renamed"})
    assert mlflow.client.ok("GET", f"/api/runs/{run}")["display_name"] == "renamed"
    mlflow.ok("POST", "runs/delete", {"run_id": run})
    assert mlflow.ok("GET", f"runs/get?run_id={run}")["run"]["info"]["lifecycle_stage"] == "deleted"
    assert mlflow.client.ok("GET", f"/api/runs?workspace={mlflow.workspace}")["runs"] == []
    mlflow.ok("POST", "runs/restore", {"run_id": run})


def test_a_job_is_not_ended_by_a_client(mlflow_server: Served) -> None:
    job = mlflow_server.stored_run(launch={"script": "x.py"}, kind="script", target="local")
    mlflow = Mlflow(mlflow_server.client)
    told = mlflow.ok("POST", "runs/update", {"run_id": job["id"], "status": "FINISHED"})
    assert told["run_info"]["status"] == "SCHEDULED"
    assert mlflow_server.client.ok("GET", f"/api/runs/{job['id']}")["status"] == "NotStarted"


def test_a_child_of_another_experiment_says_where_it_comes_from(mlflow: Mlflow) -> None:
    first, second = mlflow.experiment("first"), mlflow.experiment("second")
    parent = mlflow.run(first)
    tags = [{"key": "mlflow.parentRunId", "value": parent}]
    child, beside = mlflow.run(first, tags=tags), mlflow.run(second, tags=tags)
    assert mlflow.client.ok("GET", f"/api/runs/{child}")["parent_id"] == parent
    assert mlflow.client.ok("GET", f"/api/runs/{beside}")["parent_id"] is None
    asked = {"experiment_ids": [first, second], "filter": f"tags.mlflow.parentRunId = '{parent}'"}
    assert [each["info"]["run_id"] for each in mlflow.ok("POST", "runs/search", asked)["runs"]] == [child]
