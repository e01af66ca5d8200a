"""Modules of SDK v1 that Runyard lacks: importing one raises an error that names it as missing.

Loading this module installs the finder. Python's import calls it after all others, so that it never hides a module
that somebody has installed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Mapping, Sequence

if TYPE_CHECKING:
    from types import FrameType, ModuleType

_OF_AZUREML = (
    *("_base_sdk_common", "_common", "_execution", "_history", "_model_management", "_project", "_restclient"),
    *("_run_impl", "_vendor", "accel", "automl", "contrib", "datadrift", "dataprep", "explain", "fsspec", "interpret"),
    *("mlflow", "monitoring", "pipeline", "responsibleai", "studio", "telemetry", "tensorboard"),
    "widgets",
)
_OF_CORE = (
    *("authorization", "databricks", "image", "linked_service"),
    *("model_proxy", "private_endpoint", "util"),
    *("compute.adla", "compute.databricks", "compute.datafactory", "compute.dsvm", "compute.hdinsight"),
    "compute.synapse",
)
_OF_DATA = (
    *("constants", "dataset_action_run", "dataset_definition"),
    *("dataset_profile", "dataset_snapshot", "sql_data_reference", "stored_procedure_parameter"),
)
_OF_TRAIN = (*("automl", "rl", "widgets", "hyperdrive.error_definition"),)

MODULES = frozenset(
    [
        *(f"azureml.{name}" for name in _OF_AZUREML),
        *(f"azureml.core.{name}" for name in _OF_CORE),
        *(f"azureml.data.{name}" for name in _OF_DATA),
        *(f"azureml.train.{name}" for name in _OF_TRAIN),
    ]
)
"""Modules of SDK v1 and its companion packages, with everything below them. Those that Runyard has are found before."""


_INNER = "It was never public: use azureml.core, or the HTTP API of docs/protocol.md."
_STEPS = "Submit the steps one after the other; run.submit_child makes them one family."
_SWEEP = "Sweep a script of your own: azureml.train.hyperdrive, docs/sweeps.md."
_RL = "Run your RL library on a Ray cluster: docs/engines/ray.md."
_EXPLAIN = "Use the package interpret in your script, and run.upload_file for what it finds."
_COMPUTE = "Use a compute target of this machine, Ray or Slurm: docs/compute.md."
_DATASET = "Use azureml.core.Dataset: docs/data.md, docs/tables.md."

INSTEAD = {
    **{
        f"azureml.{name}": _INNER
        for name in (
            *("_base_sdk_common", "_common", "_execution", "_history", "_model_management", "_project", "_restclient"),
            *("_run_impl", "_vendor", "core.authorization", "core.model_proxy", "core.util"),
        )
    },
    **{f"azureml.core.compute.{name}": _COMPUTE for name in ("adla", "databricks", "datafactory", "dsvm")},
    **{f"azureml.core.compute.{name}": _COMPUTE for name in ("hdinsight", "synapse")},
    **{f"azureml.data.{name}": _DATASET for name in ("dataset_action_run", "dataset_definition", "dataset_profile")},
    **{f"azureml.data.{name}": _DATASET for name in ("constants", "dataset_snapshot")},
    "azureml.pipeline": _STEPS,
    "azureml.automl": _SWEEP,
    "azureml.train.automl": _SWEEP,
    "azureml.train.rl": _RL,
    "azureml.train.widgets": "Use azureml.widgets.",
    "azureml.train.hyperdrive.error_definition": "Use azureml.train.hyperdrive.exceptions.",
    "azureml.widgets": "Use azureml.widgets.RunDetails.",
    "azureml.telemetry": "Use azureml.telemetry.set_diagnostics_collection, which sends nothing.",
    "azureml.tensorboard": "Use azureml.tensorboard.Tensorboard and azureml.tensorboard.export.",
    "azureml.interpret": _EXPLAIN,
    "azureml.explain": _EXPLAIN,
    "azureml.datadrift": "Compare versions of a dataset in a script, and log what differs.",
    "azureml.dataprep": "Use azureml.core.Dataset, or pandas in your script.",
    "azureml.fsspec": "Use azureml.core.Dataset: to_path, download and mount give files.",
    "azureml.data.sql_data_reference": "Query the database in your script; run.get_secret has its password.",
    "azureml.data.stored_procedure_parameter": "Query the database in your script; run.get_secret has its password.",
    "azureml.responsibleai": "Use the packages interpret and fairlearn in your script, and run.upload_file.",
    "azureml.accel": "Export the model to ONNX, and serve that.",
    "azureml.core.image": "Model.package writes an image, Model.deploy a service: docs/services.md.",
    "azureml.core.databricks": _COMPUTE,
    "azureml.core.linked_service": _COMPUTE,
    "azureml.core.private_endpoint": "The server listens where you tell it to, on this machine alone at first.",
    "azureml.mlflow": "Use the package mlflow itself, or run.log of azureml.core.",
    "azureml.monitoring": "Log what the service is asked in its script: docs/services.md.",
    "azureml.studio": "Submit the steps as scripts of your own: azureml.core.ScriptRunConfig.",
    "azureml.contrib": "Use azureml.core.",
    "azureml.contrib.automl": _SWEEP,
    "azureml.contrib.dataset": "Use azureml.core.Dataset.",
    "azureml.contrib.explain": _EXPLAIN,
    "azureml.contrib.fairness": "Use the package fairlearn in your script, and run.upload_file for what it finds.",
    "azureml.contrib.gbdt": "Run LightGBM in a script of your own, over several nodes with MpiConfiguration.",
    "azureml.contrib.interpret": _EXPLAIN,
    "azureml.contrib.notebook": "Run the notebook in a script: papermill's execute_notebook, and run.upload_file.",
    "azureml.contrib.pipeline": _STEPS,
    "azureml.contrib.train.rl": _RL,
}
"""What does the same here. The longest name counts."""


class MissingModules:
    """The last of `sys.meta_path`."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """Raise for a module of SDK v1 that is being imported. Code that only checks whether it exists finds none."""
        if not name.startswith("azureml.") or not _is_of_sdk_v1(name):
            return
        callers = _importing(sys._getframe(1))
        if "_find_and_load_unlocked" in callers:
            # `from package import module` swallows an error that has the module's name, and its message too.
            shown = None if "_handle_fromlist" in callers else name
            raise ModuleNotFoundError(_words(_asked_for(name, callers)), name=shown)


def _words(name: str) -> str:
    """What is said of a module that is missing.

    >>> _words("azureml.train.rl")
    'azureml.train.rl is part of SDK v1, not of Runyard. Run your RL library on a Ray cluster: docs/engines/ray.md.'
    """
    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        instead = INSTEAD.get(".".join(parts[:length]))
        if instead is not None:
            return f"{name} is part of SDK v1, not of Runyard. {instead}"
    raise KeyError(name)


def _is_of_sdk_v1(name: str) -> bool:
    """
    >>> _is_of_sdk_v1("azureml.pipeline.core"), _is_of_sdk_v1("azureml.core.run")
    (True, False)
    """
    parts = name.split(".")
    return any(".".join(parts[:length]) in MODULES for length in range(2, len(parts) + 1))


def _asked_for(name: str, callers: Mapping[str, object]) -> str:
    """The module that the code names: what is above it is imported first, and is what is found missing."""
    whole = callers.get("_find_and_load")
    return whole if isinstance(whole, str) and whole.startswith(f"{name}.") else name


def _importing(frame: FrameType | None) -> dict[str, object]:
    """The functions of Python's import on the stack, up to the code that imports, and what each is to import; the
    first one that was called counts."""
    found = {}
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
        found[frame.f_code.co_name] = frame.f_locals.get("name")
        frame = frame.f_back
    return found


sys.meta_path.append(MissingModules)
