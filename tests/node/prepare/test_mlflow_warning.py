"""What a script logs to MLflow without a tracking address is lost with the run's folder: its user must know of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.contracts.plan import Launch
from runyard.node.prepare.mlflow_warning import MlflowWatch


def warned(work: Path, text: str, launch: Launch | None = None) -> bool:
    (work / "train.py").write_text(text)
    fact = MlflowWatch(launch or Launch(script="train.py"), work).started({"fact": "started"})
    return "train.py imports mlflow" in str(fact.get("warnings"))


@pytest.mark.parametrize(
    "text",
    [
        "import mlflow",
        "if x:\n\timport os, mlflow as m",
        "from  mlflow.tracking import MlflowClient",
        "import mlflow.x",
    ],
)
def test_a_script_that_imports_it(tmp_path: Path, text: str) -> None:
    assert warned(tmp_path, text)
    assert warned(tmp_path, text, Launch(command="cd . && python -u './train.py' --x; true"))


@pytest.mark.parametrize(
    "text",
    [
        "import mlflow_helpers",
        "import azureml.mlflow",
        "print('no import mlflow here')",
        "# import mlflow",
        "import mlflow\nmlflow.set_tracking_uri(uri)",
        "import os, mlflow\nos.environ['MLFLOW_TRACKING_URI'] = 'http://x'",
        "import " + "mlflow_" * 20_000,
    ],
)
def test_a_script_that_does_not_or_that_names_an_address(tmp_path: Path, text: str) -> None:
    assert not warned(tmp_path, text)


def test_an_address_in_the_environment(tmp_path: Path) -> None:
    named = {"MLFLOW_TRACKING_URI": "http://x"}
    assert not warned(tmp_path, "import mlflow", Launch(script="train.py", environment_variables=named))
    assert not warned(tmp_path, "import mlflow", Launch(script="train.py", shell=named))


def test_no_script_no_words(tmp_path: Path) -> None:
    for launch in (Launch(script="gone.py"), Launch(command="a" * 100_000), Launch(command="x.py_" * 20_000)):
        assert "warnings" not in MlflowWatch(launch, tmp_path).started({"fact": "started"})


def test_what_came_with_the_snapshot_is_no_trace(tmp_path: Path) -> None:
    (tmp_path / "mlruns" / "0").mkdir(parents=True)
    (tmp_path / "mlflow.db").write_text("old")
    watch = MlflowWatch(Launch(script="train.py"), tmp_path)
    assert "warnings" not in watch.ended({"fact": "ended"})
    (tmp_path / "mlruns" / "0" / "a-run").mkdir()
    (warning,) = watch.ended({"fact": "ended"})["warnings"]
    assert "MLFLOW_TRACKING_URI" in warning["message"]
