"""The workspace in the address is the only one that a request reaches."""

from __future__ import annotations

from tests.server.conftest import Served
from tests.server.mlflow.conftest import Mlflow


def test_runs_and_experiments_of_other_workspaces_are_not_there(mlflow_server: Served, mlflow: Mlflow) -> None:
    experiment = mlflow.experiment()
    run = mlflow.run(experiment)
    elsewhere = Mlflow(mlflow_server.client)
    missing = (404, "RESOURCE_DOES_NOT_EXIST")
    assert elsewhere.refused("GET", f"runs/get?run_id={run}")[:2] == missing
    assert elsewhere.refused("GET", f"experiments/get?experiment_id={experiment}")[:2] == missing
    assert elsewhere.refused("POST", "runs/log-metric", {"run_id": run, "key": "a", "value": 1})[:2] == missing
    assert elsewhere.ok("POST", "runs/search", {"experiment_ids": [experiment]}) == {"runs": []}
    mlflow.ok("POST", "runs/delete", {"run_id": run})
    assert "restore" in mlflow.refused("POST", "runs/log-metric", {"run_id": run, "key": "a", "value": 1})[2]
