"""Registered models by MLflow's protocol."""

from __future__ import annotations

from tests.server.mlflow.conftest import Mlflow


def test_a_name_of_the_registry(mlflow: Mlflow) -> None:
    mlflow.ok(
        "POST", "registered-models/create", {"name": "m", "description": "said", "tags": [{"key": "a", "value": "1"}]}
    )
    assert mlflow.refused("POST", "registered-models/create", {"name": "m"})[1] == "RESOURCE_ALREADY_EXISTS"
    mlflow.ok("POST", "registered-models/set-tag", {"name": "m", "key": "b", "value": "2"})
    mlflow.ok("DELETE", "registered-models/delete-tag", {"name": "m", "key": "a"})
    found = mlflow.ok("PATCH", "registered-models/update", {"name": "m", "description": "again"})["registered_model"]
    assert (found["description"], found["tags"]) == ("again", [{"key": "b", "value": "2"}])
    mlflow.ok("POST", "registered-models/create", {"name": "n"})
    page = mlflow.ok("GET", "registered-models/search?max_results=1&order_by=name+DESC")
    assert ([each["name"] for each in page["registered_models"]], page["next_page_token"]) == (["n"], "1")
    found = mlflow.ok("GET", "registered-models/search?filter=tags.b+%3D+'2'")["registered_models"]
    assert [each["name"] for each in found] == ["m"]
    assert (
        mlflow.refused("POST", "registered-models/rename", {"name": "m", "new_name": "n"})[1]
        == "RESOURCE_ALREADY_EXISTS"
    )
    assert (
        mlflow.ok("POST", "registered-models/rename", {"name": "m", "new_name": "k"})["registered_model"]["name"] == "k"
    )
    assert mlflow.ok("POST", "registered-models/get-latest-versions", {"name": "k"}) == {"model_versions": []}
    assert mlflow.refused("POST", "registered-models/alias", {"name": "k", "alias": "a", "version": "1"})[0] == 404
    mlflow.ok("DELETE", "registered-models/delete", {"name": "k"})
    assert mlflow.refused("GET", "registered-models/get?name=k")[0] == 404
