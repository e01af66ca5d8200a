"""A dataset as an input of a run: which one, and how the run accesses it. Nothing is moved here."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any

from runyard.contracts.data.datasets import TABULAR
from runyard.sdk.data.configuration import Data, DataLocation, Dataset
from runyard.sdk.exceptions import UserErrorException

DIRECT, DOWNLOAD, MOUNT, HDFS = "direct", "download", "mount", "hdfs"
MODES = (DIRECT, DOWNLOAD, MOUNT, HDFS)
OF_THE_SYSTEM = ("path", "ld_library_path", "user", "logname", "home", "pwd", "shell")
"""Names of variables that programs rely on: an input of such a name hides one of them."""


class DatasetConsumptionConfig:
    """An input of a run. `dataset` is a dataset, the tuple (workspace, name) or (workspace, name, version), or
    an output of a run that has completed.

    >>> DatasetConsumptionConfig("images", ("my-workspace", "birds"), "mount").arg_val
    'DatasetConsumptionConfig:images'
    """

    def __init__(self, name: str | None, dataset: Any, mode: str = DIRECT, path_on_compute: str | None = None) -> None:
        self._name = _checked(name or f"input__{os.urandom(4).hex()}")
        if str(mode).lower() not in MODES:
            raise UserErrorException(f"{mode!r} is no way to read a dataset: use one of {', '.join(MODES)}.")
        if str(mode).lower() != DIRECT and is_tabular(dataset):
            raise UserErrorException(
                f"A tabular dataset cannot be read as {mode!r}: use it as it is (dataset.as_named_input('name')), and "
                "run.input_datasets['name'].to_pandas_dataframe() in the script; or dataset.to_csv_files().as_mount()."
            )
        self.dataset = dataset
        self.mode = str(mode).lower()
        self.path_on_compute = path_on_compute
        self.arg_val = f"DatasetConsumptionConfig:{self._name}"

    @property
    def name(self) -> str:
        return self._name

    def as_download(self, path_on_compute: str | None = None) -> DatasetConsumptionConfig:
        """The same input, copied to the node before the script starts."""
        return DatasetConsumptionConfig(self._name, self.dataset, DOWNLOAD, path_on_compute)

    def as_mount(self, path_on_compute: str | None = None) -> DatasetConsumptionConfig:
        """The same input, read in place."""
        return DatasetConsumptionConfig(self._name, self.dataset, MOUNT, path_on_compute)

    def as_hdfs(self) -> DatasetConsumptionConfig:
        """The same input, by its address in HDFS."""
        return DatasetConsumptionConfig(self._name, self.dataset, HDFS)

    def to_config(self) -> Data:
        """The input as a section of a run configuration."""
        return Data(
            DataLocation(dataset=_dataset(self.dataset)),
            mechanism=self.mode,
            environment_variable_name=self._name,
            path_on_compute=self.path_on_compute,
        )

    def __repr__(self) -> str:
        return f"DatasetConsumptionConfig(name={self._name!r}, mode={self.mode!r})"


def is_tabular(dataset: object) -> bool:
    definition = getattr(dataset, "_definition", None)
    return isinstance(definition, dict) and definition.get("kind") == TABULAR


def _checked(name: str) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name):
        raise UserErrorException(
            f"{name!r} is no name for an input: it becomes the name of an environment variable, so use letters, digits "
            "and '_', with no digit first."
        )
    if name.lower() in OF_THE_SYSTEM:
        warnings.warn(f"The input {name!r} hides an environment variable that programs rely on.", stacklevel=3)
    return name


def _dataset(dataset: Any) -> Dataset:
    from runyard.sdk.data.output_dataset_config import OutputFileDatasetConfig

    if isinstance(dataset, tuple):
        if len(dataset) not in (2, 3):
            raise UserErrorException("A dataset is named by (workspace, name) or (workspace, name, version).")
        return Dataset(None, str(dataset[1]), str(dataset[2]) if len(dataset) == 3 else None)
    if isinstance(dataset, OutputFileDatasetConfig):
        written = Dataset()
        written.unsaved = dataset
        return written
    version = getattr(dataset, "version", None)
    found = Dataset(
        getattr(dataset, "id", None), getattr(dataset, "name", None), None if version is None else str(version)
    )
    found.unsaved = dataset if found.id is None else None
    return found
