"""Logged models by MLflow's protocol: their files are those of the run that has logged them."""

from __future__ import annotations

from tests.server.mlflow.conftest import Mlflow


def test_a_model_from_its_making_to_its_end(mlflow: Mlflow) -> None:
    run = mlflow.run("0")
    asked = {"experiment_id": "0", "name": "net", "source_run_id": run, "params": [{"key": "p", "value": "1"}]}
    model = mlflow.ok("POST", "logged-models", asked)["model"]["info"]
    id, root = model["model_id"], model["artifact_uri"].removeprefix("mlflow-artifacts:/")
    assert mlflow.artifact("PUT", f"{root}/sub/weights", body=b"w").status == 200
    assert mlflow.client.call("GET", f"/api/runs/{run}/files/outputs/net/sub/weights").body == b"w"
    mlflow.ok("PATCH", f"logged-models/{id}", {"model_id": id, "status": "LOGGED_MODEL_READY"})
    mlflow.ok("PATCH", f"logged-models/{id}/tags", {"tags": [{"key": "a/b", "value": "1"}]})
    mlflow.ok("POST", f"logged-models/{id}/params", {"params": [{"key": "q", "value": "2"}]})
    mlflow.ok("POST", "runs/log-metric", {"run_id": run, "key": "f1", "value": "NaN", "model_id": id, "timestamp": 1})
    found = mlflow.ok("GET", f"logged-models/{id}")["model"]
    assert (found["info"]["status"], found["info"]["tags"]) == ("LOGGED_MODEL_READY", [{"key": "a/b", "value": "1"}])
    assert [each["key"] for each in found["data"]["params"]] == ["p", "q"]
    assert [(each["key"], each["value"]) for each in found["data"]["metrics"]] == [("f1", "NaN")]
    mlflow.ok("DELETE", f"logged-models/{id}/tags/a/b")
    asked = {"experiment_ids": ["0"], "filter": f"source_run_id = '{run}' and params.p = '1'"}
    order = {"order_by": [{"field_name": "creation_timestamp", "ascending": False}]}
    assert [
        each["info"]["model_id"] for each in mlflow.ok("POST", "logged-models/search", {**asked, **order})["models"]
    ] == [id]
    assert mlflow.ok("POST", "logged-models/search", {**asked, "datasets": [{"dataset_name": "none"}]})["models"] == []
    for status, count in (("= 'READY'", 1), ("IN ('LOGGED_MODEL_READY', 'x')", 1), ("!= 'READY'", 0)):
        sought = {"experiment_ids": ["0"], "filter": f"status {status}"}
        assert len(mlflow.ok("POST", "logged-models/search", sought)["models"]) == count, status
    entries = mlflow.ok("GET", f"logged-models/{id}/artifacts/directories?artifact_directory_path=sub")["files"]
    assert [each["path"] for each in entries] == ["sub/weights"]
    mlflow.ok("DELETE", f"logged-models/{id}")
    assert mlflow.refused("GET", f"logged-models/{id}")[1] == "RESOURCE_DOES_NOT_EXIST"
    assert mlflow.client.call("GET", f"/api/runs/{run}/files/outputs/net/sub/weights").status == 200
