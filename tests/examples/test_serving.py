"""The examples of serving: what a script exported answers as it did in training."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.frameworks import environment
from tests.support.serving import SOURCE, Service

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "serving"

pytestmark = pytest.mark.framework


def trained(name: str, folder: Path) -> Path:
    folder.mkdir()
    python = environment("serving")
    variables = {**os.environ, "PYTHONPATH": str(SOURCE), "RUNYARD_HOME": str(folder / "home")}
    done = subprocess.run(
        [python, EXAMPLES / name], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Accuracy" in done.stdout
    return folder / "outputs"


def test_onnx_runtime_answers_as_pytorch_did(tmp_path: Path) -> None:
    outputs = trained("onnx_train.py", tmp_path / "training")
    model = {"name": "blobs", "version": 1, "path": str(outputs), "framework": "Onnx"}
    with Service(tmp_path / "service", environment("serving"), models=[model]).ready() as service:
        address = f"http://127.0.0.1:{service.port}/score"
        command = [sys.executable, str(EXAMPLES / "compare.py"), address, str(outputs / "answers.json")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "5 answers" in done.stdout


def test_scikit_learn_with_and_without_a_script(tmp_path: Path) -> None:
    outputs = trained("sklearn_train.py", tmp_path / "training")
    model = {"name": "iris", "version": 1, "path": str(outputs), "framework": "ScikitLearn"}
    rows = {"data": [[5.1, 3.5, 1.4, 0.2], [6.7, 3.0, 5.2, 2.3]]}
    with Service(tmp_path / "plain", environment("serving"), models=[model]).ready() as service:
        assert service.ask("/score", {**rows, "method": "predict"}).json() == {"predict": [0, 2]}
    script = {"source_directory": str(EXAMPLES), "entry_script": "score.py"}
    with Service(tmp_path / "script", environment("serving"), models=[model], **script).ready() as service:
        assert service.ask("/score", rows).json() == {"species": ["setosa", "virginica"]}
