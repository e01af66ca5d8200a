"""Versions by MLflow's protocol are the models that everybody registers, finds and deploys."""

from __future__ import annotations

from tests.server.mlflow.conftest import Mlflow


def test_one_registry_two_faces(mlflow: Mlflow) -> None:
    run = mlflow.run("0")
    mlflow.artifact("PUT", f"0/{run}/artifacts/model/MLmodel", body=b"flavors: {}")
    mlflow.ok("POST", "registered-models/create", {"name": "m"})
    asked = {"name": "m", "source": f"runs:/{run}/model", "run_id": run, "tags": [{"key": "a", "value": "1"}]}
    made = mlflow.ok("POST", "model-versions/create", asked)["model_version"]
    assert (made["version"], made["status"], made["run_id"]) == ("1", "READY", run)
    models = f"/api/workspaces/{mlflow.workspace}/models"
    ours = mlflow.client.ok("GET", f"{models}/m/1")
    assert (ours["root"], ours["tags"], ours["run_id"]) == ("model", {"a": "1"}, run)
    mlflow.client.ok("POST", models, {"name": "m", "run_id": run, "path": "outputs/model/MLmodel"})
    second = mlflow.ok("GET", "model-versions/get?name=m&version=2")["model_version"]
    uri = mlflow.ok("GET", "model-versions/get-download-uri?name=m&version=2")["artifact_uri"]
    assert second["source"] == uri == "mlflow-artifacts:/registry/m/2"
    assert mlflow.artifact("GET", "registry/m/2/MLmodel").body == b"flavors: {}"
    assert mlflow.artifact("GET", "registry/m/1/MLmodel").body == b"flavors: {}"
    for source in ("models:/m/1", "mlflow-artifacts:/registry/m/1", f"mlflow-artifacts:/0/{run}/artifacts/model"):
        assert (
            mlflow.ok("POST", "model-versions/create", {"name": "m", "source": source})["model_version"]["status"]
            == "READY"
        )
    mlflow.ok("POST", "registered-models/alias", {"name": "m", "alias": "champion", "version": "1"})
    assert mlflow.ok("GET", "registered-models/alias?name=m&alias=champion")["model_version"]["version"] == "1"
    mlflow.ok("POST", "model-versions/create", {"name": "m", "source": "models:/m@champion"})
    for version in ("1", "2"):
        staged = {"name": "m", "version": version, "stage": "production", "archive_existing_versions": True}
        mlflow.ok("POST", "model-versions/transition-stage", staged)
    found = mlflow.ok("GET", "model-versions/search?filter=name%3D'm'&order_by=version_number+ASC")["model_versions"]
    assert [each["current_stage"] for each in found][:2] == ["Archived", "Production"]
    mlflow.ok("PATCH", "model-versions/update", {"name": "m", "version": "1", "description": "d"})
    mlflow.ok("POST", "model-versions/set-tag", {"name": "m", "version": "1", "key": "b", "value": "2"})
    mlflow.ok("DELETE", "model-versions/delete-tag", {"name": "m", "version": "1", "key": "a"})
    assert mlflow.client.ok("GET", f"{models}/m/1")["tags"] == {"b": "2"}
    for wrong in ("s3://bucket/x", "runs:/none/x", f"runs:/{run}/../x", "models:/none/1", "models:/m@none"):
        assert mlflow.refused("POST", "model-versions/create", {"name": "m", "source": wrong})[0] in (400, 404), wrong
    assert (
        mlflow.refused("POST", "model-versions/transition-stage", {"name": "m", "version": "1", "stage": "x"})[0] == 400
    )
    mlflow.ok("DELETE", "model-versions/delete", {"name": "m", "version": "1"})
    assert mlflow.refused("GET", "registered-models/alias?name=m&alias=champion")[0] == 404
    mlflow.ok("DELETE", "registered-models/delete", {"name": "m"})
    assert mlflow.client.get(f"{models}/m/2").status == 404
