"""The datasets that a run reads: saved or looked up, and handed to the node by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runyard.contracts.data import datasets as contract
from runyard.sdk.data.configuration import Data
from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
from runyard.sdk.data.output_dataset_config import OutputFileDatasetConfig
from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.submit.runconfig import RunConfiguration
    from runyard.sdk.workspace.workspace import Workspace


def inputs_of(run_config: RunConfiguration, workspace: Workspace) -> list[dict[str, Any]]:
    """The inputs of a run, as its launch has them (`runyard.contracts.plan`). Their ids are entered in `run_config`.

    Data references that are mounted or downloaded are inputs too: each is a dataset without a name.
    """
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
    for name, reference in (run_config.data_references or {}).items():
        if reference.mode in contract.MODES:
            dataset = _saved_path(reference.data_store_name, reference.path_on_data_store, name, workspace)
            found.append(_as_sent(name, dataset, reference.mode, reference.path_on_compute))
    return found


def _input(name: str, data: Data, workspace: Workspace) -> dict[str, Any]:
    mode = str(data.mechanism or contract.DIRECT).lower()
    if mode not in contract.MODES:
        raise UserErrorException(
            f"This version of Runyard does not do inputs as {mode!r} yet. Use as_mount() or as_download()."
        )
    location = data.data_location
    dataset = location.dataset if location is not None else None
    if dataset is None:
        path = location.data_path if location is not None else None
        if path is None:
            raise UserErrorException(f"The input {name!r} names neither a dataset nor a path in a datastore.")
        saved = _saved_path(path.datastore_name, path.relative_path, name, workspace)
        return _as_sent(name, saved, mode, data.path_on_compute)
    unsaved = dataset.unsaved
    if isinstance(unsaved, OutputFileDatasetConfig):
        unsaved = unsaved.written_by()
    if dataset.id is None and unsaved is not None:
        unsaved._saved(workspace)
        dataset.id = unsaved.id
    if dataset.id is None:
        from runyard.sdk.data.abstract_dataset import AbstractDataset

        if not dataset.name:
            raise UserErrorException(f"The input {name!r} names no dataset.")
        registered = AbstractDataset.get_by_name(workspace, dataset.name, dataset.version)
        DatasetConsumptionConfig(name, registered, mode)  # refuses what the dataset cannot be read as
        dataset.id, dataset.version = registered.id, str(registered.version)
    return _as_sent(name, dataset.id, mode, data.path_on_compute)


def _saved_path(datastore: str | None, path: str | None, name: str, workspace: Workspace) -> str | None:
    """The id of the dataset that a path in a datastore is."""
    from runyard.sdk.data.file_dataset import FileDataset

    if not datastore:
        raise UserErrorException(f"The input {name!r} names no datastore.")
    source = {"datastore": datastore, "path": path or ""}
    dataset = FileDataset({"kind": contract.FILE, "sources": [source], "steps": []}, workspace)
    dataset._saved(workspace)
    return dataset.id


def _as_sent(name: str, dataset: str | None, mode: str, path_on_compute: str | None) -> dict[str, Any]:
    try:
        contract.check_input(name)
    except contract.BadDefinition as error:
        raise UserErrorException(str(error)) from None
    return {"name": name, "dataset": dataset, "mode": mode, "path_on_compute": path_on_compute or None}
