"""Experiments by MLflow's protocol are those that everybody has."""

from __future__ import annotations

from tests.server.mlflow.conftest import Mlflow


def test_one_experiment_two_faces(mlflow: Mlflow) -> None:
    path = f"/api/workspaces/{mlflow.workspace}/experiments"
    mlflow.client.ok("PUT", f"{path}/ours")
    id = mlflow.ok("GET", "experiments/get-by-name?experiment_name=ours")["experiment"]["experiment_id"]
    mlflow.ok("POST", "experiments/set-experiment-tag", {"experiment_id": id, "key": "k", "value": "v"})
    mlflow.ok("POST", "experiments/update", {"experiment_id": id, "new_name": "a name/of MLflow"})
    [seen] = mlflow.client.ok("GET", f"{path}?tag=k=v")["experiments"]
    assert (seen["id"], seen["name"]) == (id, "a name/of MLflow")
    mlflow.ok("POST", "experiments/delete", {"experiment_id": id})
    assert mlflow.client.ok("GET", f"/api/experiments/{id}")["archived_at"] is not None
    assert mlflow.refused("POST", "experiments/delete", {"experiment_id": id})[1] == "RESOURCE_DOES_NOT_EXIST"
    mlflow.ok("POST", "experiments/restore", {"experiment_id": id})
    mlflow.ok("POST", "experiments/delete-experiment-tag", {"experiment_id": id, "key": "k"})
    found = mlflow.ok("GET", "experiments/search?max_results=1&order_by=name+ASC")
    assert ([each["name"] for each in found["experiments"]], found["next_page_token"]) == (["Default"], "1")
    more = mlflow.ok("POST", "experiments/search", {"page_token": "1", "order_by": ["name ASC"], "max_results": "5"})
    assert [each["experiment_id"] for each in more["experiments"]] == [id]
    assert (
        mlflow.ok("GET", "experiments/get?experiment_id=0")["experiment"]["artifact_location"] == "mlflow-artifacts:/0"
    )
