"""azureml.core, from `runyard.sdk`. Each class is loaded when it is first asked for."""

from typing import TYPE_CHECKING

from runyard.sdk.sdk_v1 import VERSION, late_names
from runyard.sdk.sdk_v1 import VERSION as __version__

if TYPE_CHECKING:
    from runyard.sdk.compute.compute import ComputeTarget
    from runyard.sdk.compute.legacy import (
        attach_legacy_compute_target,
        is_compute_target_prepared,
        prepare_compute_target,
        remove_legacy_compute_target,
    )
    from runyard.sdk.data.dataset import Dataset
    from runyard.sdk.datastore.datastore import Datastore
    from runyard.sdk.diagnostic_log import diagnostic_log
    from runyard.sdk.environment.container_registry import ContainerRegistry
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.model.model import Model
    from runyard.sdk.run.run import Run, get_run
    from runyard.sdk.submit.runconfig import RunConfiguration
    from runyard.sdk.submit.script_run import ScriptRun
    from runyard.sdk.submit.script_run_config import ScriptRunConfig
    from runyard.sdk.webservice.webservice import Webservice
    from runyard.sdk.workspace.keyvault import Keyvault
    from runyard.sdk.workspace.workspace import Workspace

__all__ = [
    "VERSION",
    "ComputeTarget",
    "ContainerRegistry",
    "Dataset",
    "Datastore",
    "Environment",
    "Experiment",
    "Keyvault",
    "Model",
    "Run",
    "RunConfiguration",
    "ScriptRun",
    "ScriptRunConfig",
    "Webservice",
    "Workspace",
    "__version__",
    "attach_legacy_compute_target",
    "diagnostic_log",
    "get_run",
    "is_compute_target_prepared",
    "prepare_compute_target",
    "remove_legacy_compute_target",
]

__getattr__ = late_names(
    __name__,
    {
        "ComputeTarget": "runyard.sdk.compute.compute",
        "ContainerRegistry": "runyard.sdk.environment.container_registry",
        "Dataset": "runyard.sdk.data.dataset",
        "Datastore": "runyard.sdk.datastore.datastore",
        "Environment": "runyard.sdk.environment.environment",
        "Experiment": "runyard.sdk.experiment",
        "Keyvault": "runyard.sdk.workspace.keyvault",
        "Model": "runyard.sdk.model.model",
        "Run": "runyard.sdk.run.run",
        "RunConfiguration": "runyard.sdk.submit.runconfig",
        "ScriptRun": "runyard.sdk.submit.script_run",
        "ScriptRunConfig": "runyard.sdk.submit.script_run_config",
        "Webservice": "runyard.sdk.webservice.webservice",
        "Workspace": "runyard.sdk.workspace.workspace",
        "attach_legacy_compute_target": "runyard.sdk.compute.legacy",
        "diagnostic_log": "runyard.sdk.diagnostic_log",
        "get_run": "runyard.sdk.run.run",
        "is_compute_target_prepared": "runyard.sdk.compute.legacy",
        "prepare_compute_target": "runyard.sdk.compute.legacy",
        "remove_legacy_compute_target": "runyard.sdk.compute.legacy",
    },
)
