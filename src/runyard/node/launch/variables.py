"""The environment of a run's processes: SDK v1's variables, how to reach the server, and the user's own on top."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Mapping

from runyard.contracts.distribution import MPI, PYTORCH, TENSORFLOW, Distribution
from runyard.contracts.plan import Plan
from runyard.node.launch.processes import COOKIE

if TYPE_CHECKING:
    from runyard.environments.builder import Built

OF_A_PYTHON = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV")

_REFERENCE = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)


def for_script(
    plan: Plan, folder: Path, cookie: str, inherited: Mapping[str, str], built: Built | None = None
) -> dict[str, str]:
    """The variables that the script sees.

    Of what the runner inherited, the server's own settings stay behind, and so does what was meant for the Python of
    the server. A PYTHONPATH stays, after the folder with the SDK; but what was set for another interpreter does not
    enter an environment that was built, and nothing of this machine enters a container.
    """
    around = {**inherited, **plan.launch.shell}
    theirs = plan.launch.environment_variables.get("PYTHONPATH", around.get("PYTHONPATH", "") if built is None else "")
    if built is not None:
        around = {} if built.image else {name: value for name, value in around.items() if name not in OF_A_PYTHON}
    variables = {name: value for name, value in around.items() if not name.startswith(("RUNYARD_", "PYTHON"))}
    variables.pop("OLDPWD", None)
    variables["PWD"] = str(folder / "work")
    variables["PYTHONUNBUFFERED"] = "1"
    variables.update(_identity(plan))
    variables.update(_runtime(plan, folder))
    variables["RUNYARD_TELEMETRY"] = str(folder / "telemetry")
    if plan.server_file:
        variables["RUNYARD_SERVER_FILE"] = plan.server_file
    variables.update(built.variables if built is not None else {})
    variables.update(plan.launch.environment_variables)
    first = _first_on_path(plan, built)
    if first:
        variables["PATH"] = os.pathsep.join((first, variables.get("PATH", os.defpath)))
    variables["PYTHONPATH"] = os.pathsep.join(part for part in (plan.sdk, theirs) if part)
    variables[COOKIE] = cookie
    return variables


def _first_on_path(plan: Plan, built: Built | None) -> str:
    """The folder whose programs come first, so that `python` in a command is the interpreter of the run."""
    if built is not None:
        return os.path.join(built.folder, "bin") if built.folder else ""
    return os.path.dirname(str(plan.launch.environment.get("interpreter") or ""))


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Put the values of `$NAME` and `${NAME}` in place; a name that is not set stays as it is.

    >>> expand("--data=$DATA/x", {"DATA": "/mnt"})
    '--data=/mnt/x'
    """
    return _REFERENCE.sub(lambda match: variables.get(match[1] or match[2], match[0]), text)


def _identity(plan: Plan) -> dict[str, str]:
    scope = (
        f"/subscriptions/{plan.subscription_id}/resourceGroups/{plan.resource_group}"
        f"/providers/Microsoft.MachineLearningServices/workspaces/{plan.workspace}"
    )
    return {
        "AZUREML_RUN_ID": plan.run_id,
        "AZUREML_ROOT_RUN_ID": plan.root_run_id,
        "AZUREML_RUN_TOKEN": plan.token,
        "AZUREML_ARM_SUBSCRIPTION": plan.subscription_id,
        "AZUREML_ARM_RESOURCEGROUP": plan.resource_group,
        "AZUREML_ARM_WORKSPACE_NAME": plan.workspace,
        "AZUREML_ARM_PROJECT_NAME": plan.experiment,
        "AZUREML_EXPERIMENT_ID": plan.experiment_id,
        "AZUREML_WORKSPACE_SCOPE": scope,
        "AZUREML_EXPERIMENT_SCOPE": f"{scope}/experiments/{plan.experiment}",
        "AZUREML_SERVICE_ENDPOINT": plan.server_url,
        "AZUREML_RUN_HISTORY_SERVICE_ENDPOINT": plan.server_url,
    }


def _runtime(plan: Plan, folder: Path) -> dict[str, str]:
    framework, communicator = _framework(plan.distribution)
    return {
        "AZUREML_TARGET_TYPE": plan.target_type,
        "AZUREML_FRAMEWORK": framework,
        "AZUREML_COMMUNICATOR": communicator,
        "AZUREML_RUN_RESTART_COUNT": str(plan.attempt - 1),
        "AZUREML_OUTPUT_DIRECTORY": "./outputs",
        "AZUREML_LOGDIRECTORY_PATH": "logs",  # a folder that is followed, unlike SDK v1's azureml-logs
        "AZUREML_CR_NODE_RANK": "0",
        "AZUREML_CR_EXECUTION_WORKING_DIR_PATH": str(folder / "work"),
        "AZ_BATCHAI_JOB_TEMP": str(folder / "temp"),
        "AZ_BATCHAI_TASK_TYPE": "worker",
        "AZ_BATCHAI_TASK_INDEX": "0",
    }


def _framework(distribution: Distribution) -> tuple[str, str]:
    """How SDK v1 names a way to distribute: the framework, and what its processes talk through."""
    if distribution.kind == PYTORCH:
        return "PyTorch", distribution.backend
    if distribution.kind == TENSORFLOW:
        return "TensorFlow", "ParameterServer"
    return "Python", "IntelMpi" if distribution.kind == MPI else "None"
