"""`Model.get_model_path` finds the files: beside a service, and fetched everywhere else."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from runyard.sdk.exceptions import ModelNotFoundException, WebserviceException
from runyard.sdk.model.model import Model
from runyard.sdk.workspace.workspace import Workspace


def lay(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(b"1")


def test_in_a_service_models_lie_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lay("app/azureml-models/birds/2/model.pt", "app/azureml-models/birds/10/model.pt", "app/azureml-models/x/1/m/a")
    monkeypatch.setenv("AML_APP_ROOT", "app")
    assert Model.get_model_path("birds") == "app/azureml-models/birds/10/model.pt"
    assert Model.get_model_path("birds", version=2) == "app/azureml-models/birds/2/model.pt"
    assert Model.get_model_path("x") == "app/azureml-models/x/1/m"
    with pytest.raises(ModelNotFoundException, match="ModelNotFound: the model birds:3"):
        Model.get_model_path("birds", version=3)
    with pytest.raises(ModelNotFoundException, match="Looked for in: app/azureml-models/cats"):
        Model.get_model_path("cats")
    lay("cats")
    assert Model.get_model_path("cats") == "cats"


@pytest.mark.parametrize("folder", ["models/birds/2", "models"])
def test_the_folder_of_models_alone_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.chdir(tmp_path)
    lay("models/birds/2/model.pt")
    monkeypatch.delenv("AML_APP_ROOT", raising=False)
    monkeypatch.setenv("AZUREML_MODEL_DIR", str(tmp_path / folder))
    assert Model.get_model_path("birds") == str(tmp_path / "models/birds/2/model.pt")


def test_in_a_notebook_they_are_fetched(workspace: Workspace) -> None:
    name = f"model-{uuid.uuid4().hex[:12]}"
    lay("m/a")
    Model.register(workspace, "m", name)
    Model.register(workspace, "m/a", name)
    assert Model.get_model_path(name) == f"azureml-models/{name}/2/a"
    assert Model.get_model_path(name, version=1) == f"azureml-models/{name}/1/m"
    assert Path(f"azureml-models/{name}/1/m/a").read_bytes() == b"1"
    with pytest.raises(ModelNotFoundException):
        Model.get_model_path(name, version=3)
    for wrong in ("1", True, 1.0):
        with pytest.raises(WebserviceException, match="whole number"):
            Model.get_model_path(name, version=wrong)  # type: ignore[arg-type]
    with pytest.raises(WebserviceException, match="no name for a model"):
        Model.get_model_path("../x")
