"""Where MLflow's client is led in a run, and where it is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.node.mlflow.conftest import plan_of

from runyard.contracts.plan import Launch
from runyard.node.mlflow.address import Address, wanted


def test_the_variables_lead_to_an_open_port(tmp_path: Path) -> None:
    address = Address(plan_of(), tmp_path)
    found = address.variables()
    assert found["MLFLOW_TRACKING_URI"] == f"http://127.0.0.1:{address.port}/mlflow/local"
    assert (found["MLFLOW_RUN_ID"], found["MLFLOW_EXPERIMENT_ID"]) == ("run-1", "e-1")
    assert found["MLFLOW_TRACKING_TOKEN"] == address.token != "run.t"
    assert Address(plan_of(experiment="Default"), tmp_path).variables()["MLFLOW_EXPERIMENT_ID"] == "0"


@pytest.mark.parametrize(
    ("script", "launch", "inherited", "expected"),
    [
        ("import mlflow", {}, {}, True),
        ("mlflow.set_tracking_uri('sqlite:///x')", {}, {}, False),
        ("mlflow.set_tracking_uri(ws.get_mlflow_tracking_uri())", {}, {}, True),
        ("import mlflow\nprint(mlflow.get_tracking_uri())", {}, {}, True),
        ("tracking_uri = mlflow.get_tracking_uri()", {}, {}, True),
        ("if args.tracking_uri == 'x': pass", {}, {}, True),
        ("# mlflow.set_tracking_uri('http://x')", {}, {}, True),
        ("mlflow.set_tracking_uri(os.environ['MLFLOW_TRACKING_URI'])", {}, {}, True),
        ("import os\nos.environ['MLFLOW_TRACKING_URI'] = 'http://x'", {}, {}, False),
        ("client = MlflowClient(tracking_uri = 'http://x')", {}, {}, False),
        ("mlflow.set_tracking_uri('http://x')\nprint(mlflow.get_tracking_uri())", {}, {}, False),
        ("", {"environment_variables": {"MLFLOW_TRACKING_URI": "http://x"}}, {}, False),
        ("", {"shell": {"MLFLOW_TRACKING_URI": "http://x"}}, {}, False),
        ("", {}, {"MLFLOW_TRACKING_URI": "http://x"}, False),
        ("set_tracking_uri('x')", {"script": None, "command": "cd . && python 'train.py' --x"}, {}, False),
        ("set_tracking_uri('x')", {"script": None, "command": "echo other.py"}, {}, True),
        ("set_tracking_uri('x')", {"script": "none.py"}, {}, True),
    ],
)
def test_an_address_of_the_users_own_is_left_alone(
    tmp_path: Path, script: str, launch: dict[str, object], inherited: dict[str, str], expected: bool
) -> None:
    (tmp_path / "train.py").write_text(script)
    given = Launch(**{"script": "train.py", **launch})  # type: ignore[arg-type]
    assert wanted(plan_of(launch=given), tmp_path, inherited) == expected
