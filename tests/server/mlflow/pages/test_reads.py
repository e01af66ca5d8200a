"""Files and datasets as MLflow's pages ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.server.mlflow.conftest import Mlflow


def test_files_of_runs_models_and_versions(mlflow: Mlflow) -> None:
    experiment = mlflow.experiment()
    run = mlflow.run(experiment)
    logged = {"experiment_id": experiment, "name": "m", "source_run_id": run}
    model = mlflow.ok("POST", "logged-models", logged)["model"]["info"]["model_id"]
    for address, body in (
        (f"{experiment}/{run}/artifacts/a/b.txt", b"of the run"),
        (f"{experiment}/models/{model}/artifacts/MLmodel", b"of the model"),
    ):
        assert mlflow.artifact("PUT", address, body=body).status == 200
    mlflow.ok("POST", "registered-models/create", {"name": "reg"})
    mlflow.ok("POST", "model-versions/create", {"name": "reg", "source": f"models:/{model}"})
    place = f"/mlflow/{mlflow.workspace}"
    found = {
        f"get-artifact?path=a%2Fb.txt&run_uuid={run}": b"of the run",
        f"ajax-api/2.0/mlflow/get-artifact?path=a%2Fb.txt&run_id={run}": b"of the run",
        f"ajax-api/2.0/mlflow/logged-models/{model}/artifacts/files?artifact_file_path=MLmodel": b"of the model",
        "model-versions/get-artifact?path=MLmodel&name=reg&version=1": b"of the model",
    }
    for address, body in found.items():
        answer = mlflow.client.get(f"{place}/{address}")
        assert (answer.status, answer.body) == (200, body), address
        assert answer.headers["content-disposition"].startswith("attachment"), "shown in no page of this server"
    for address in (f"get-artifact?path=..%2F..%2Fx&run_uuid={run}", f"get-artifact?path=none&run_uuid={run}"):
        assert mlflow.client.get(f"{place}/{address}").status in (400, 404)


def test_the_datasets_of_experiments(mlflow: Mlflow) -> None:
    experiment, other = mlflow.experiment(), mlflow.experiment("other")
    tag = {"key": "mlflow.data.context", "value": "training"}
    dataset = {"name": "rows", "digest": "d1", "source_type": "local", "source": "{}"}
    for run in (mlflow.run(experiment), mlflow.run(experiment)):
        datasets = [{"tags": [tag], "dataset": dataset}, {"dataset": {**dataset, "digest": "d2"}}]
        mlflow.ok("POST", "runs/log-inputs", {"run_id": run, "datasets": datasets})
    asked = {"experiment_ids": [experiment, other, "none"]}
    address = f"/mlflow/{mlflow.workspace}/ajax-api/2.0/mlflow/experiments/search-datasets"
    found = mlflow.client.ok("POST", address, asked)["dataset_summaries"]
    named = {"experiment_id": experiment, "name": "rows"}
    assert sorted(found, key=str) == sorted(
        [{**named, "digest": "d1", "context": "training"}, {**named, "digest": "d2"}], key=str
    )
