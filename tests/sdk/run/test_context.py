"""Inside a run a script finds its run, without asking the server for anything."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

from runyard.sdk.exceptions import RunEnvironmentException
from runyard.sdk.run.context import REQUIRED
from runyard.sdk.run.offline import _OfflineRun
from runyard.sdk.run.run import Run


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The environment of a run whose server is not there."""
    run_id = f"exp_1_{uuid.uuid4().hex[:8]}"
    for name in REQUIRED:
        monkeypatch.setenv(name, f"the-{name}")
    monkeypatch.setenv("AZUREML_RUN_ID", run_id)
    monkeypatch.setenv("AZUREML_ARM_WORKSPACE_NAME", "team")
    monkeypatch.setenv("AZUREML_ARM_PROJECT_NAME", "exp")
    monkeypatch.setenv("AZUREML_SERVICE_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("RUNYARD_TELEMETRY", str(tmp_path / "telemetry"))
    return run_id


def test_the_run_of_the_environment(inside: str, tmp_path: Path) -> None:
    run = Run.get_context()
    assert isinstance(run, Run)
    assert run is Run.get_context(allow_offline=False)
    assert (run.id, run.experiment.name, run.experiment.workspace.name) == (inside, "exp", "team")
    run.log("loss", 0.5, step=1)
    run.tag("k", "v")
    run.upload_file("outputs/a.txt", __file__)
    (file,) = (tmp_path / "telemetry" / "journal").iterdir()
    kinds = [line[2] for line in file.read_text().splitlines()]
    assert kinds == ["v", "g", "f"]
    (spooled,) = (tmp_path / "telemetry" / "spool").iterdir()
    assert spooled.read_bytes() == Path(__file__).read_bytes()


def test_its_end_is_not_decided_inside(
    inside: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = Run.get_context()
    assert isinstance(run, Run)
    run.complete()
    run.fail("no")
    run.cancel()
    assert "run.fail() does nothing inside" in caplog.text
    assert "run.cancel() does nothing inside" in caplog.text
    with pytest.raises(ValueError, match="boom"), run:
        raise ValueError("boom")


@pytest.mark.parametrize("lacking", REQUIRED)
def test_one_variable_less_is_offline(inside: str, monkeypatch: pytest.MonkeyPatch, lacking: str) -> None:
    monkeypatch.delenv(lacking)
    assert isinstance(Run.get_context(), _OfflineRun)
    with pytest.raises(RunEnvironmentException):
        Run.get_context(allow_offline=False)


def test_datasets_are_paths_in_the_environment(inside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZUREML_DATASET_ENVIRONMENT_VARS", "birds:mount")
    monkeypatch.setenv("birds", "/data/birds")
    run = Run.get_context()
    assert isinstance(run, Run)
    assert dict(run.input_datasets) == {"birds": "/data/birds"}
    with pytest.raises(KeyError, match="birds"):
        run.input_datasets["cats"]
    assert os.environ["AZUREML_RUN_ID"] == inside
