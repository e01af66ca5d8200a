"""The datasets of a run, seen from inside: the paths of its inputs and outputs.

The node runner puts the paths into the environment; of an input that is read directly it is the dataset's id.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping, NoReturn

from runyard.contracts.data.datasets import DIRECT, PATH_VARIABLE
from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace


class InputDatasets(Mapping[str, Any]):
    """`run.input_datasets["name"]` is the path of an input; the dataset itself for one that is read directly."""

    _variable, _separator = "AZUREML_DATASET_ENVIRONMENT_VARS", ","

    def __init__(self, workspace: Workspace | None) -> None:
        self.workspace = workspace

    def __getitem__(self, name: str) -> Any:
        if name not in self._names():
            known = ", ".join(self._names()) or "none"
            raise KeyError(f"The run has no dataset {name!r}; it has: {known}.")
        value = os.environ.get(PATH_VARIABLE + name) or os.environ[name]
        if f"{name}:{DIRECT}" not in self._listed() or self.workspace is None:
            return value
        from runyard.sdk.data.abstract_dataset import found_by_id

        return found_by_id(self.workspace, value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __repr__(self) -> str:
        return repr({name: os.environ.get(PATH_VARIABLE + name) or os.environ[name] for name in self._names()})

    def _names(self) -> list[str]:
        names = [part.partition(":")[0] for part in self._listed()]
        return [name for name in names if name in os.environ or PATH_VARIABLE + name in os.environ]

    def _listed(self) -> list[str]:
        return [part for part in os.environ.get(self._variable, "").split(self._separator) if part]


class OutputDatasets(InputDatasets):
    """`run.output_datasets["name"]` is the path that an output is written to."""

    _variable, _separator = "AZUREML_DATASET_FILE_OUTPUTS", ";"


class LinkOutput:
    """An output that is linked to a dataset, of SDK v1's preview, which Runyard does not have."""

    def __init__(self, workspace: Workspace, name: str | None = None) -> None:
        self.workspace, self.name = workspace, name

    def link(self, dataset: object, run: object = None) -> NoReturn:
        raise UserErrorException(
            f"The output {self.name!r} cannot be linked: Runyard has no outputs of that kind. Register the dataset in "
            "the script, or give the run an OutputFileDatasetConfig and write the files to its folder."
        )
