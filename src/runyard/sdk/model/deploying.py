"""`Model.deploy`: from models, a script and a configuration to a service that is being made."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Sequence

from runyard.contracts.environment import CONTAINER
from runyard.sdk.exceptions import UserErrorException, WebserviceException
from runyard.sdk.webservice import wire
from runyard.sdk.webservice.changes import notice_unused
from runyard.sdk.webservice.deployment_configuration import (
    WebserviceDeploymentConfiguration,
    checked_service_name,
    given,
)
from runyard.sdk.webservice.webservice import Webservice

if TYPE_CHECKING:
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.model.inference_config import InferenceConfig
    from runyard.sdk.model.model import Model
    from runyard.sdk.workspace.workspace import Workspace

WITHOUT_CODE = ("Onnx", "PyTorch", "ScikitLearn", "TensorFlow", "TfKeras", "MLflow")
"""Frameworks whose models are served without a script."""

SOURCE_PROPERTY = "runyard.source_directory"
"""The property of a local service by which `reload` finds the folder of its script again."""


def deploy(
    workspace: Workspace,
    name: str,
    models: Sequence[Model],
    inference_config: InferenceConfig | None = None,
    deployment_config: WebserviceDeploymentConfiguration | None = None,
    deployment_target: Any = None,
    overwrite: bool = False,
    show_output: bool = False,
) -> Webservice:
    """Ask for a service, and return it while it is being made. Everything that can be wrong is checked first."""
    checked_service_name(name)
    configuration = configuration_for(deployment_config, deployment_target)
    configuration.validate_configuration()
    target = target_name(workspace, configuration, deployment_target)
    if show_output:
        print_configuration(models, inference_config, configuration, deployment_target)
    request = {"name": name, **configuration._request(), "models": model_ids(workspace, models)}
    settings = dict(request.get("settings") or {})
    if inference_config is None:
        (model,) = served_without_code(workspace, models)
        settings = {**_resources(model), **settings}
        if model.model_framework == model.Framework.MLFLOW:
            from runyard.sdk.model.mlflow_environment import environment_of

            environment = environment_of(model)
            if environment is not None:
                request["launch"] = _where(environment)
    else:
        launch, variables = launch_part(workspace, name, inference_config)
        request["launch"] = launch
        if variables:
            settings["environment_variables"] = variables
    request.update(settings=settings, overwrite=overwrite, **given(compute_target=target))
    if configuration._kind == "local":
        # SDK v1 replaces a container of that name without being asked.
        request["overwrite"] = True
        if inference_config is not None:
            source = {SOURCE_PROPERTY: str(inference_config._folder().absolute())}
            request["properties"] = {**(request.get("properties") or {}), **source}
    document = wire.created(workspace, request)
    service: Webservice = Webservice._told(workspace, document)
    for key, value in configuration._keys().items():
        service.regen_key(key, value)
    notice_unused(name, dict.fromkeys(configuration._unused(), True))
    return service


# -- where ----------------------------------------------------------------------------------------------------------


def configuration_for(
    deployment_config: WebserviceDeploymentConfiguration | None, deployment_target: Any
) -> WebserviceDeploymentConfiguration:
    """The configuration that is meant: without any, one for ACI, or for AKS where the target is an AksCompute."""
    from runyard.sdk.compute.aks import AksCompute
    from runyard.sdk.webservice.aci import AciWebservice
    from runyard.sdk.webservice.aks import AksWebservice
    from runyard.sdk.webservice.aks_configuration import AksServiceDeploymentConfiguration

    if deployment_target is not None and not isinstance(deployment_target, AksCompute):
        raise WebserviceException(
            f"Services run on an AksCompute, or on this machine without a target; this is {_shown(deployment_target)}. "
            "ComputeTarget.create(ws, 'aks', AksCompute.provisioning_configuration()) makes one."
        )
    if deployment_config is None:
        return (
            AciWebservice.deploy_configuration() if deployment_target is None else AksWebservice.deploy_configuration()
        )
    if not isinstance(deployment_config, WebserviceDeploymentConfiguration):
        raise WebserviceException(
            "deployment_config is what deploy_configuration() of a service's class returns, not "
            f"{_shown(deployment_config)}."
        )
    if deployment_target is not None and not isinstance(deployment_config, AksServiceDeploymentConfiguration):
        raise WebserviceException(
            f"The deployment_target {deployment_target.name!r} is an AksCompute, and the deployment_config is of "
            f"another kind: use AksWebservice.deploy_configuration(), or leave the target out."
        )
    return deployment_config


def target_name(
    workspace: Workspace, configuration: WebserviceDeploymentConfiguration, deployment_target: Any
) -> str | None:
    """The name of the AksCompute for a configuration of AKS; WebserviceException when none was named."""
    from runyard.sdk.compute.aks import AksCompute
    from runyard.sdk.webservice.aks_configuration import AksServiceDeploymentConfiguration

    if deployment_target is not None:
        return str(deployment_target.name)
    if not isinstance(configuration, AksServiceDeploymentConfiguration):
        return None
    named = configuration.compute_target_name
    if not named:
        raise WebserviceException(
            "A service of this kind needs a deployment_target: an AksCompute of the workspace, or its name as "
            "compute_target_name of the configuration."
        )
    return str(AksCompute(workspace, named).name)


# -- what -----------------------------------------------------------------------------------------------------------


def model_ids(workspace: Workspace, models: Sequence[Model]) -> list[str]:
    """The ids of models. A text is taken as one."""
    from runyard.sdk.model.model import Model

    if isinstance(models, (str, Model)) or not isinstance(models, (list, tuple)):
        raise WebserviceException(f"models is a list of models, such as [model], not {_shown(models)}.")
    ids = []
    for each in models:
        if not isinstance(each, (str, Model)):
            raise WebserviceException(
                f"models holds registered models; {_shown(each)} is none. Model.register makes one."
            )
        if isinstance(each, Model) and each.workspace.name != workspace.name:
            raise WebserviceException(
                f"The model {each.id} is in the workspace {each.workspace.name!r}, the service in {workspace.name!r}."
            )
        ids.append(each if isinstance(each, str) else str(each.id))
    return ids


def served_without_code(workspace: Workspace, models: Sequence[Model]) -> list[Model]:
    """The one model of a service without a script; UserErrorException when it cannot be served so."""
    from runyard.sdk.model.model import Model

    if len(models) != 1:
        raise UserErrorException(
            f"Without an inference_config a service has exactly one model, not {len(models)}. Give an InferenceConfig "
            "with a script that loads them."
        )
    model = models[0] if isinstance(models[0], Model) else Model(workspace, id=models[0])
    if model.model_framework not in WITHOUT_CODE:
        raise UserErrorException(
            f"The model {model.id} is of the framework {model.model_framework!r}. Served without an inference_config "
            f"are {', '.join(WITHOUT_CODE)}: register it with model_framework=Model.Framework..., or give an "
            "InferenceConfig."
        )
    return [model]


def _resources(model: Model) -> dict[str, Any]:
    """The resources that a model was registered with, as settings."""
    asked = model.resource_configuration
    if asked is None:
        return {}
    return given(cpu=asked.cpu, memory_gb=asked.memory_in_gb, gpu=asked.gpu)


def launch_part(
    workspace: Workspace, name: str, inference_config: InferenceConfig
) -> tuple[dict[str, Any], dict[str, str]]:
    """The script and environment of a service as the server takes them, and the environment's variables. The folder of
    the script is sent with the request (`wire.asked`). WebserviceException for a script that surely cannot answer."""
    from runyard.sdk.model.inference_config import InferenceConfig
    from runyard.sdk.submit.launch import variables_in

    if not isinstance(inference_config, InferenceConfig):
        raise WebserviceException(f"inference_config is an InferenceConfig, not {_shown(inference_config)}.")
    inference_config.validate_configuration()
    inference_config._check_functions()
    environment = inference_config._environment(name)
    folder = str(inference_config._folder().absolute())
    launch = {wire.FOLDER: folder, "entry_script": inference_config._script(), **_where(environment)}
    return launch, variables_in(environment)


def _where(environment: Environment) -> dict[str, Any]:
    from runyard.contracts.compute import LOCAL_ENGINE
    from runyard.sdk.submit.launch import interpreter_for, shell_for, specification_in

    specification = specification_in(environment)
    is_contained = specification.kind == CONTAINER
    gpu = bool(environment.docker.gpu_support)
    return {
        "environment": specification.as_dict(),
        "definition": environment.to_dict(),
        "interpreter": interpreter_for(specification, LOCAL_ENGINE),
        "shell": shell_for(LOCAL_ENGINE),
        "container": {"arguments": [], "shm_size": environment.docker.shm_size, "gpu": gpu} if is_contained else {},
    }


def print_configuration(
    models: Sequence[Model],
    inference_config: InferenceConfig | None,
    deployment_config: WebserviceDeploymentConfiguration | None,
    deployment_target: Any,
) -> None:
    """Print what a service is made from."""
    print("Models: " + ", ".join(str(getattr(each, "id", each)) for each in models))
    print(f"Deployment target: {getattr(deployment_target, 'name', None) or 'this machine'}")
    if inference_config is not None:
        print(f"Entry script: {os.fspath(inference_config.entry_script)}")
        environment = inference_config.environment
        if environment is not None:
            packages = [*environment.python.conda_dependencies.conda_packages]
            packages += environment.python.conda_dependencies.pip_packages
            print(f"Environment: {environment.name} (version {environment.version})")
            print(f"  packages: {', '.join(map(str, packages))}\n  image: {environment.docker.base_image}")
        else:
            print(f"Environment: runtime {inference_config.runtime}, conda file {inference_config.conda_file}")
            print(f"  image: {inference_config.base_image}")
    if deployment_config is not None:
        deployment_config.print_deploy_configuration()


def _shown(value: object) -> str:
    return (
        f"a {type(value).__name__} ({str(value)[:60]!r})"
        if isinstance(value, (str, int, dict))
        else f"a {type(value).__name__}"
    )
