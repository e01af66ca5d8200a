"""Datasets, outputs and data references that users give in place of the sections of a run configuration."""

from __future__ import annotations

import copy
from typing import Any

from runyard.sdk.data.configuration import Data
from runyard.sdk.data.data_reference import DataReference
from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.submit.runconfig import RunConfiguration


def entered(run_config: RunConfiguration, argument: object) -> object:
    """An argument as it is sent. Of data, the section is entered in the configuration, and the argument names it."""
    if isinstance(argument, (str, int, float)):
        return argument
    from runyard.sdk.data.output_dataset_config import OutputFileDatasetConfig

    if isinstance(argument, DatasetConsumptionConfig):
        run_config.data[argument.name] = argument.to_config()
        return argument.arg_val
    if isinstance(argument, OutputFileDatasetConfig):
        run_config.output_data[argument.name] = argument.to_config()
        return argument.arg_val
    if not isinstance(argument, DataReference):
        return argument
    run_config.data_references[argument.data_reference_name] = argument.to_config()
    return str(argument)


def in_sections(run_config: RunConfiguration) -> RunConfiguration:
    """A copy that a file can hold: all data in sections, and every dataset with its id."""
    made = copy.copy(run_config)
    made.data = {name: _section(each) for name, each in (run_config.data or {}).items()}
    made.output_data = {name: _section(each) for name, each in (run_config.output_data or {}).items()}
    made.data_references = {name: _section(each) for name, each in (run_config.data_references or {}).items()}
    made.arguments = [entered(made, each) for each in run_config.arguments or ()]
    for name, each in made.data.items():
        _must_have_an_id(name, each)
    return made


def _section(given: Any) -> Any:
    return given.to_config() if hasattr(given, "to_config") else given


def _must_have_an_id(name: str, data: Data) -> None:
    location = data.data_location
    dataset = location.dataset if location is not None else None
    if dataset is None or dataset.unsaved is None:
        return
    from runyard.sdk.data.abstract_dataset import AbstractDataset

    if not isinstance(dataset.unsaved, AbstractDataset):
        raise UserErrorException(
            f"The input {name!r} is what a run writes, which a file cannot name. Give a registered dataset: "
            "register_on_complete('name'), then Dataset.get_by_name(workspace, 'name')."
        )
    dataset.unsaved._saved()
    dataset.id = dataset.unsaved.id
