"""The process of a replica: what it sees, what it is told, and how it is found again."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from tests.support.waiting import wait_until

from runyard.contracts.services.plan import ServicePlan
from runyard.contracts.services.settings import Settings
from runyard.contracts.services.worker import WorkerSettings
from runyard.node.outcome.exits import Exit
from runyard.node.problem import RunProblem
from runyard.node.services.process import Process, variables, write_settings

SETTINGS = Settings(authentication="key", memory_gb=1.0, environment_variables={"MINE": "1"})
PLAN = ServicePlan("mine", "/home/services/x", "/home/services/x/listener", 2, "127.0.0.1", 4000, SETTINGS,
                   models=[{"name": "m", "version": 3, "framework": "Onnx"}], entry_script="score.py")  # fmt: skip


def test_the_script_is_in_no_run_and_finds_its_model(tmp_path: Path) -> None:
    seen = variables({"AZUREML_RUN_TOKEN": "secret", "PATH": "/bin"}, PLAN, tmp_path, [tmp_path / "m" / "3"])
    assert "AZUREML_RUN_TOKEN" not in seen
    assert (seen["AZUREML_MODEL_DIR"], seen["MINE"], seen["PATH"]) == (str(tmp_path / "m" / "3"), "1", "/bin")
    several = variables({}, PLAN, tmp_path, [tmp_path / "a", tmp_path / "b"])
    assert several["AZUREML_MODEL_DIR"] == str(tmp_path / "azureml-models")


def test_its_settings_can_be_read_by_it(tmp_path: Path) -> None:
    path = write_settings(None, PLAN, tmp_path, tmp_path / "work", [tmp_path / "m"])  # type: ignore[arg-type]
    read = WorkerSettings.read(path)
    assert (read.port, read.revision, read.memory_limit_bytes) == (4000, 2, 1 << 30)
    assert (read.authentication.mode, read.authentication.file) == ("key", "/home/services/x/authentication.json")
    assert (read.models[0].path, read.models[0].framework) == (str(tmp_path / "m"), "Onnx")
    assert path.stat().st_mode & 0o077 == 0


def test_one_that_cannot_be_started_is_a_problem_in_words(tmp_path: Path) -> None:
    """Its runner tries again; an error that it does not know would end it."""
    with pytest.raises(RunProblem, match="nowhere"):
        Process.start([sys.executable, "-c", ""], tmp_path, {}, tmp_path / "nowhere" / "log", None)
    with pytest.raises(RunProblem, match="no-such-python"):
        Process.start(["/no-such-python"], tmp_path, {}, tmp_path / "log", None)


def test_a_process_is_found_again_by_whoever_comes_next(tmp_path: Path) -> None:
    process = Process.start([sys.executable, "-c", "input()"], tmp_path, {}, tmp_path / "log", None)
    ended = wait_until(process.look, "its end: its input is empty")
    assert ended == Exit(1, None)
    assert "EOFError" in (tmp_path / "log").read_text()
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    living = Process.start(sleeping, tmp_path, {}, tmp_path / "log", None)
    adopted = Process(living.launched)
    assert adopted.look() is None
    adopted.kill()
    assert wait_until(living.look, "its end") == Exit(None, signal.SIGKILL)
    assert adopted.look() == Exit(None, None), "how it ended is known to its parent alone"
