"""The environment of a service for a model of MLflow is what the model's own files list."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.model.mlflow_environment import environment_of
from runyard.sdk.model.model import Model
from runyard.sdk.workspace.workspace import Workspace


def test_the_files_of_the_model_name_its_environment(workspace: Workspace) -> None:
    folder = Path("written")
    folder.mkdir()
    (folder / "MLmodel").write_text("flavors: {}\n")
    bare = Model.register(workspace, "written", "bare", model_framework=Model.Framework.MLFLOW)
    with pytest.raises(UserErrorException, match=r"bare.*neither a requirements.txt nor a conda.yaml"):
        environment_of(bare)
    (folder / "conda.yaml").write_text("dependencies:\n- python=3.11\n- pip\n- pip:\n  - skops==0.16.0\n")
    conda = environment_of(Model.register(workspace, "written", "lin"))
    assert conda is not None
    assert conda.name == "mlflow-lin"
    assert list(conda.python.conda_dependencies.pip_packages) == ["skops==0.16.0"]
    (folder / "requirements.txt").write_text("mlflow==3.17.0\nscikit-learn==1.9.1\n")
    assert environment_of(Model.register(workspace, "written", "lin")) is None, "the server reads it"
