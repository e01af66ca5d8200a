"""A model that MLflow has written is served in the environment that its own files name, which is built for it."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.frameworks import environment

from azureml.core import Experiment, Model

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

pytestmark = pytest.mark.framework

SCRIPT = """
    import mlflow
    import pandas
    from sklearn.linear_model import LinearRegression

    rows = pandas.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    model = LinearRegression().fit(rows, 2 * rows["a"] + rows["b"])
    mlflow.sklearn.log_model(model, name="model", input_example=rows[:1], registered_model_name="built")
"""


def ask(address: str, body: bytes, kind: str = "application/json") -> Any:
    asked = urllib.request.Request(address, body, {"content-type": kind})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return json.loads(answer.read())["predictions"]


def test_its_environment_is_built_from_what_it_lists(shared_yard: Yard) -> None:
    config = shared_yard.config(SCRIPT)
    config.run_config.environment.python.interpreter_path = str(environment("mlflow"))
    run = Experiment(shared_yard.workspace, "journey").submit(config)
    assert run.wait_for_completion()["status"] == "Completed"
    workspace = shared_yard.workspace
    service = Model.deploy(workspace, "built", [Model(workspace, "built")])
    try:
        service.wait_for_deployment()
        invocations = str(service.scoring_uri).replace("/score", "/invocations")
        frame = {"columns": ["a", "b"], "data": [[1.0, 1.0], [5.0, 0.0]]}
        records = [{"a": 1.0, "b": 1.0}, {"b": 0.0, "a": 5.0}]
        bodies = (
            {"dataframe_split": frame},
            {"dataframe_records": records},
            {"inputs": {"a": [1.0, 5.0], "b": [1.0, 0.0]}},
            {"instances": records},
        )
        for body in bodies:
            assert ask(invocations, json.dumps(body).encode()) == pytest.approx([3.0, 10.0]), body
        assert ask(invocations, b"a,b\n1.0,1.0\n5.0,0.0\n", "text/csv") == pytest.approx([3.0, 10.0])
        built = list((shared_yard.home / "environments").rglob("site-packages/sklearn"))
        assert built, "the service has an environment of its own"
    finally:
        service.delete()
