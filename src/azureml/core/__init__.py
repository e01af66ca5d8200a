"""azureml.core, from `runyard.sdk`. Each class is loaded when it is first asked for."""

from typing import TYPE_CHECKING

from runyard.sdk.sdk_v1 import VERSION, late_names
from runyard.sdk.sdk_v1 import VERSION as __version__

if TYPE_CHECKING:
    from runyard.sdk.compute import ComputeTarget
    from runyard.sdk.compute_target import (
        attach_legacy_compute_target,
        is_compute_target_prepared,
        prepare_compute_target,
        remove_legacy_compute_target,
    )
    from runyard.sdk.container_registry import ContainerRegistry
    from runyard.sdk.environment import Environment
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.run import Run, get_run
    from runyard.sdk.runconfig import RunConfiguration
    from runyard.sdk.script_run import ScriptRun
    from runyard.sdk.script_run_config import ScriptRunConfig
    from runyard.sdk.workspace import Workspace

__all__ = [
    "VERSION",
    "ComputeTarget",
    "ContainerRegistry",
    "Environment",
    "Experiment",
    "Run",
    "RunConfiguration",
    "ScriptRun",
    "ScriptRunConfig",
    "Workspace",
    "__version__",
    "attach_legacy_compute_target",
    "get_run",
    "is_compute_target_prepared",
    "prepare_compute_target",
    "remove_legacy_compute_target",
]

__getattr__ = late_names(
    __name__,
    {
        "ComputeTarget": "runyard.sdk.compute",
        "ContainerRegistry": "runyard.sdk.container_registry",
        "Environment": "runyard.sdk.environment",
        "Experiment": "runyard.sdk.experiment",
        "Run": "runyard.sdk.run",
        "RunConfiguration": "runyard.sdk.runconfig",
        "ScriptRun": "runyard.sdk.script_run",
        "ScriptRunConfig": "runyard.sdk.script_run_config",
        "Workspace": "runyard.sdk.workspace",
        "attach_legacy_compute_target": "runyard.sdk.compute_target",
        "get_run": "runyard.sdk.run",
        "is_compute_target_prepared": "runyard.sdk.compute_target",
        "prepare_compute_target": "runyard.sdk.compute_target",
        "remove_legacy_compute_target": "runyard.sdk.compute_target",
    },
    not_yet=(
        "Dataset",
        "Datastore",
        "Keyvault",
        "Model",
        "Webservice",
        "diagnostic_log",
    ),
)
