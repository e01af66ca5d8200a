"""MLflow in a job of several processes: every rank logs, autolog of scikit-learn and its models are in the run."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING

from tests.support.frameworks import environment

from azureml.core import Experiment, Model
from azureml.core.runconfig import MpiConfiguration

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

SCRIPT = """
    import os
    import mlflow

    rank = int(os.environ["RUNYARD_PROCESS_RANK"])
    with mlflow.start_run():
        for step in range(100):
            mlflow.log_metric(f"loss_{rank}", step, step=step)
        mlflow.log_metric("both", rank, step=rank)
        mlflow.log_text(f"of rank {rank}", f"rank_{rank}.txt")
        if rank == 0:
            import numpy
            from sklearn.linear_model import LogisticRegression

            mlflow.sklearn.autolog()
            LogisticRegression().fit(numpy.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1])
            mlflow.register_model(f"runs:/{os.environ['AZUREML_RUN_ID']}/model", "gang_model")
"""


def test_every_rank_of_a_gang_logs(shared_yard: Yard) -> None:
    config = shared_yard.config(SCRIPT)
    config.run_config.environment.python.interpreter_path = str(environment("mlflow"))
    config.run_config.framework = "Python"
    config.run_config.communicator = "IntelMpi"
    config.run_config.mpi = MpiConfiguration(process_count_per_node=2)
    run = Experiment(shared_yard.workspace, "journey").submit(config)
    assert run.wait_for_completion()["status"] == "Completed"
    metrics = run.get_metrics()
    # log_model logs the points of step 0 again, with the id of the model: they are stored once.
    assert metrics["loss_0"] == metrics["loss_1"] == list(range(100))
    assert sorted(metrics["both"]) == [0, 1]
    assert metrics["training_score"] == 1.0
    assert {"outputs/rank_0.txt", "outputs/rank_1.txt", "outputs/model/MLmodel"} <= set(run.get_file_names())
    model = shared_yard.workspace.models["gang_model"]
    assert (model.run_id, model.version) == (run.id, 1)
    # What log_model wrote is deployed as it is, in the environment that its own requirements.txt names; `runyard env
    # map` puts one that is there in its place.
    mapped = {"pattern": "mlflow-gang_model", "interpreter": str(environment("mlflow"))}
    workspace = shared_yard.workspace
    workspace.service.put(f"/api/workspaces/{workspace.name}/environment-maps", mapped)
    service = Model.deploy(workspace, "gang", [model])
    try:
        service.wait_for_deployment()
        asked = urllib.request.Request(
            str(service.scoring_uri).replace("/score", "/invocations"),
            json.dumps({"inputs": [[0.0], [3.0]]}).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            assert json.loads(answer.read()) == {"predictions": [0, 1]}
        launched = workspace.service.get(f"/api/workspaces/{workspace.name}/services/gang")
        assert "scikit-learn==" in json.dumps(launched), "the environment is that of the model"
    finally:
        service.delete()
