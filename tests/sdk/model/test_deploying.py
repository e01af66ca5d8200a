"""What Model.deploy checks before anything is sent, and what it sends."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.compute.aks import AksCompute
from runyard.sdk.compute.aml import AmlCompute
from runyard.sdk.compute.compute import ComputeTarget
from runyard.sdk.environment.environment import Environment
from runyard.sdk.exceptions import ComputeTargetException, UserErrorException, WebserviceException
from runyard.sdk.model.deploying import (
    configuration_for,
    deploy,
    launch_part,
    model_ids,
    print_configuration,
    target_name,
)
from runyard.sdk.model.inference_config import InferenceConfig
from runyard.sdk.model.model import Model
from runyard.sdk.submit.resource_configuration import ResourceConfiguration
from runyard.sdk.webservice.aci import AciServiceDeploymentConfiguration, AciWebservice
from runyard.sdk.webservice.aks import AksWebservice
from runyard.sdk.webservice.aks_configuration import AksServiceDeploymentConfiguration
from runyard.sdk.webservice.local import LocalWebservice
from runyard.sdk.workspace.workspace import Workspace


@pytest.fixture
def model(workspace: Workspace) -> Model:
    Path("model.json").write_text("{}")
    return Model.register(workspace, "model.json", "checked")


@pytest.fixture
def config(tmp_path: Path) -> InferenceConfig:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "score.py").write_text("def init(): pass\ndef run(data): return data\n")
    return InferenceConfig("score.py", source_directory=str(tmp_path / "src"))


def test_where_it_goes_without_being_told(workspace: Workspace) -> None:
    aks = ComputeTarget.create(workspace, "deploy-aks", AksCompute.provisioning_configuration())
    assert type(configuration_for(None, None)) is AciServiceDeploymentConfiguration
    assert type(configuration_for(None, aks)) is AksServiceDeploymentConfiguration
    named = AksWebservice.deploy_configuration(compute_target_name="deploy-aks")
    assert target_name(workspace, named, None) == "deploy-aks"
    assert target_name(workspace, AksWebservice.deploy_configuration(), aks) == "deploy-aks"
    assert target_name(workspace, LocalWebservice.deploy_configuration(), None) is None
    with pytest.raises(WebserviceException, match=r"AksWebservice\.deploy_configuration"):
        configuration_for(AciWebservice.deploy_configuration(), aks)
    with pytest.raises(WebserviceException, match="needs a deployment_target"):
        target_name(workspace, AksWebservice.deploy_configuration(), None)
    with pytest.raises(ComputeTargetException, match="ComputeTargetNotFound"):
        target_name(workspace, AksWebservice.deploy_configuration(compute_target_name="nothing"), None)
    aks.delete()


def test_a_target_that_serves_nothing(workspace: Workspace) -> None:
    pool = ComputeTarget.create(workspace, "deploy-pool", AmlCompute.provisioning_configuration(max_nodes=1))
    with pytest.raises(WebserviceException, match=r"on an AksCompute.*this is a AmlCompute"):
        configuration_for(None, pool)
    with pytest.raises(WebserviceException, match="what deploy_configuration"):
        configuration_for({}, None)  # type: ignore[arg-type]
    pool.delete()


@pytest.mark.parametrize(
    ("models", "message"),
    [("checked:1", "models is a list"), (None, "models is a list"), ([1], "holds registered models")],
)
def test_models_that_are_none(workspace: Workspace, models: Any, message: str) -> None:
    with pytest.raises(WebserviceException, match=message):
        model_ids(workspace, models)


def test_models_by_object_and_id(workspace: Workspace, model: Model) -> None:
    assert model_ids(workspace, [model, "checked:1"]) == [model.id, "checked:1"]  # type: ignore[list-item]
    other = Workspace.create("deploy-other", exist_ok=True)
    with pytest.raises(WebserviceException, match="in the workspace 'local', the service in 'deploy-other'"):
        model_ids(other, [model])


def test_without_code(workspace: Workspace, model: Model) -> None:
    with pytest.raises(UserErrorException, match=r"framework 'Custom'.*Onnx, PyTorch, ScikitLearn"):
        deploy(workspace, "no-code", [model])
    with pytest.raises(UserErrorException, match="exactly one model, not 0"):
        deploy(workspace, "no-code", [])
    Path("many").mkdir()
    Path("many/model").write_text("")
    many = Model.register(workspace, "many", "many-models", model_framework=Model.Framework.MULTI)
    with pytest.raises(UserErrorException, match="framework 'Multi'"):
        deploy(workspace, "no-code", [many])


def test_what_is_refused_at_once(workspace: Workspace, model: Model, config: InferenceConfig) -> None:
    with pytest.raises(WebserviceException, match="no name for a service"):
        deploy(workspace, "Birds!", [model], config)
    with pytest.raises(WebserviceException, match="inference_config is an InferenceConfig"):
        deploy(workspace, "birds", [model], "score.py")  # type: ignore[arg-type]
    Path(str(config.source_directory), "score.py").write_text("def init(): pass\n")
    with pytest.raises(WebserviceException, match="no function run"):
        deploy(workspace, "birds", [model], config)
    assert "birds" not in workspace.webservices


def test_what_is_sent_of_a_script(workspace: Workspace, config: InferenceConfig) -> None:
    launch, variables = launch_part(workspace, "birds", config)
    assert launch["entry_script"] == "score.py"
    assert launch["folder"] == str(config.source_directory)
    assert launch["interpreter"] == sys.executable
    assert launch["environment"]["user_managed"] is True
    assert variables == {}
    built = Environment("built")
    built.python.conda_dependencies.add_pip_package("numpy")
    built.environment_variables["A"] = "1"
    config.environment = built
    launch, variables = launch_part(workspace, "birds", config)
    assert launch["definition"]["name"] == "built"
    assert "numpy" in launch["environment"]["pip"]
    assert variables["A"] == "1"


def test_the_configuration_is_printed(
    workspace: Workspace, model: Model, config: InferenceConfig, capsys: pytest.CaptureFixture[str]
) -> None:
    print_configuration([model], config, AciWebservice.deploy_configuration(cpu_cores=2), None)
    said = capsys.readouterr().out
    assert f"Models: {model.id}" in said
    assert "Entry script: score.py" in said
    assert "cpu_cores: 2" in said


def test_resources_of_the_model_are_those_of_its_service(workspace: Workspace) -> None:
    from runyard.sdk.model.deploying import _resources

    Path("m.onnx").write_text("")
    wanted = ResourceConfiguration(cpu=1, memory_in_gb=0.5)
    made = Model.register(workspace, "m.onnx", "sized", model_framework="Onnx", resource_configuration=wanted)
    assert _resources(made) == {"cpu": 1, "memory_gb": 0.5}
