"""The datasets that a run reads: saved or looked up, and handed to the node by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runyard.contracts.data import datasets as contract
from runyard.sdk.data.configuration import Data
from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.submit.runconfig import RunConfiguration
    from runyard.sdk.workspace.workspace import Workspace

ARGUMENT = "DatasetConsumptionConfig:"
"""An argument that stands for the path of an input begins with this."""


def inputs_of(run_config: RunConfiguration, workspace: Workspace) -> list[dict[str, Any]]:
    """The inputs of a run, as its launch has them (`runyard.contracts.plan`). Their ids are entered in `run_config`."""
    found = []
    for name, given in list((run_config.data or {}).items()):
        data = given.to_config() if isinstance(given, DatasetConsumptionConfig) else given
        if not isinstance(data, Data):
            raise UserErrorException(
                f"run_config.data[{name!r}] must be a dataset as an input (dataset.as_named_input('name')), not a "
                f"{type(given).__name__}."
            )
        run_config.data[name] = data
        found.append(_input(name, data, workspace))
    return found


def variable(argument: str) -> str:
    """An argument as the node gets it: one that stands for an input becomes the variable with its path.

    >>> variable("DatasetConsumptionConfig:mnist")
    '$AZUREML_DATAREFERENCE_mnist'
    """
    if not argument.startswith(ARGUMENT):
        return argument
    return f"${contract.PATH_VARIABLE}{argument[len(ARGUMENT) :]}"


def _input(name: str, data: Data, workspace: Workspace) -> dict[str, Any]:
    try:
        contract.check_input(name)
    except contract.BadDefinition as error:
        raise UserErrorException(str(error)) from None
    mode = str(data.mechanism or contract.DIRECT).lower()
    if mode not in contract.MODES:
        raise UserErrorException(
            f"This version of Runyard does not do inputs as {mode!r} yet. Use as_mount() or as_download()."
        )
    dataset = data.data_location.dataset if data.data_location is not None else None
    if dataset is None:
        raise UserErrorException(
            f"This version of Runyard does not do data references yet, and the input {name!r} is one. Use a dataset: "
            "Dataset.File.from_files((datastore, 'path')).as_named_input(...)."
        )
    unsaved = dataset.unsaved
    if dataset.id is None and unsaved is not None:
        unsaved._saved(workspace)
        dataset.id = unsaved.id
    if dataset.id is None:
        from runyard.sdk.data.abstract_dataset import AbstractDataset

        if not dataset.name:
            raise UserErrorException(f"The input {name!r} names no dataset.")
        registered = AbstractDataset.get_by_name(workspace, dataset.name, dataset.version)
        dataset.id, dataset.version = registered.id, str(registered.version)
    return {"name": name, "dataset": dataset.id, "mode": mode, "path_on_compute": data.path_on_compute or None}
