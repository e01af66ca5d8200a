"""Data that a run writes: a folder on the node that is delivered to a datastore, and may become a dataset.

Only the description: `runyard.sdk.submit.outputs` hands it to the node, which delivers the files.
"""

from __future__ import annotations

import copy
import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Mapping, Sequence, TypeVar

from runyard.contracts.data import outputs as contract
from runyard.contracts.data.datasets import BadDefinition, check_input
from runyard.sdk.data import configuration
from runyard.sdk.data.data_reference import name_of
from runyard.sdk.data.dataset_consumption import MOUNT, DatasetConsumptionConfig
from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.data.file_dataset import FileDataset
    from runyard.sdk.tables.data_type import DataType, PromoteHeadersBehavior
    from runyard.sdk.tables.output_table import OutputTabularDatasetConfig
    from runyard.sdk.workspace.workspace import Workspace

ARGUMENT = "DatasetOutputConfig:"
"""An argument that stands for the path of an output begins with this."""

Self = TypeVar("Self", bound="OutputFileDatasetConfig")


class MountOptions:
    """Options of an output that is delivered while the script runs."""

    def __init__(self, disable_metadata_cache: bool = False) -> None:
        self.disable_metadata_cache = disable_metadata_cache


class UploadOptions:
    """Options of an output that is delivered when the script has ended."""

    def __init__(self, overwrite: bool = False, source_globs: str | Sequence[str] | None = None) -> None:
        self.overwrite = overwrite
        self.source_globs = [source_globs] if isinstance(source_globs, str) else list(source_globs or ()) or None


class RegistrationConfiguration:
    """The dataset that an output becomes when its run has completed."""

    def __init__(self, name: str, description: str | None, tags: Mapping[str, str] | None) -> None:
        if not name:
            raise ValueError("A dataset is registered under a name, which is not empty.")
        self.name, self.description, self.tags = name, description, dict(tags) if tags else None


class TransformationMixin:
    """Outputs whose files become a table."""

    def read_delimited_files(
        self,
        include_path: bool = False,
        separator: str = ",",
        header: bool | PromoteHeadersBehavior | str = True,
        partition_format: str | None = None,
        path_glob: str | None = None,
        set_column_types: Mapping[str, DataType] | None = None,
    ) -> OutputTabularDatasetConfig:
        """The same output, whose delimited files become a table."""
        from runyard.sdk.tables.output_table import delimited

        assert isinstance(self, OutputFileDatasetConfig)
        return delimited(self, include_path, separator, header, partition_format, path_glob, set_column_types)

    def read_parquet_files(
        self,
        include_path: bool = False,
        partition_format: str | None = None,
        path_glob: str | None = None,
        set_column_types: Mapping[str, DataType] | None = None,
    ) -> OutputTabularDatasetConfig:
        """The same output, whose Parquet files become a table."""
        from runyard.sdk.tables.output_table import parquet

        assert isinstance(self, OutputFileDatasetConfig)
        return parquet(self, include_path, partition_format, path_glob, set_column_types)


class OutputFileDatasetConfig(TransformationMixin):
    """A folder that a script writes to, as an argument of the script. Its files are in the datastore afterwards.

    >>> prepared = OutputFileDatasetConfig("prepared", destination=("workspaceblobstore", "out/{run-id}"))
    >>> prepared.arg_val
    'DatasetOutputConfig:prepared'

    In `destination`, a tuple of a datastore and a path, `{run-id}` and `{output-name}` stand for the run's id and the
    output's name. `source` is the folder on the node, by default a new one.
    """

    def __init__(
        self,
        name: str | None = None,
        destination: tuple[Any, ...] | None = None,
        source: str | None = None,
        partition_format: str | None = None,
    ) -> None:
        self._name = _checked(name or f"output_{os.urandom(4).hex()}")
        self.destination = destination
        self.source = source
        self.partition_format = partition_format
        self.mode = contract.MOUNT
        self.mount_options: MountOptions | None = None
        self.upload_options: UploadOptions | None = None
        self._registration: RegistrationConfiguration | None = None
        self._submitted: list[tuple[Workspace, str]] = []  # in each copy the same: where it was submitted last

    @property
    def name(self) -> str:
        return self._name

    @property
    def arg_val(self) -> str:
        return ARGUMENT + self._name

    def as_mount(self: Self, disable_metadata_cache: bool = False) -> Self:
        """The same output, whose files are delivered as they settle, while the script runs."""
        return self._changed(
            mode=contract.MOUNT, mount_options=MountOptions(disable_metadata_cache), upload_options=None
        )

    def as_upload(self: Self, overwrite: bool = False, source_globs: str | Sequence[str] | None = None) -> Self:
        """The same output, delivered when the script has ended. A file that is in the datastore already makes the run
        fail, unless overwrite is True; `source_globs` are patterns of the files that count."""
        options = UploadOptions(overwrite, source_globs)
        return self._changed(mode=contract.UPLOAD, upload_options=options, mount_options=None)

    def register_on_complete(
        self: Self, name: str, description: str | None = None, tags: Mapping[str, str] | None = None
    ) -> Self:
        """The same output, which becomes a new version of a dataset when the run has completed."""
        return self._changed(_registration=RegistrationConfiguration(name, description, tags))

    def as_input(self, name: str | None = None) -> DatasetConsumptionConfig:
        """What the last run with this output has written, as an input of another run."""
        return DatasetConsumptionConfig(name or f"input_{os.urandom(4).hex()}", self, MOUNT)

    def to_config(self) -> configuration.OutputData:
        """The output as a section of a run configuration."""
        options = configuration.OutputOptions(path_on_compute=self.source)
        if self._registration is not None:
            registration = self._registration
            options.registration_options = configuration.RegistrationOptions(
                registration.name, registration.description, registration.tags
            )
        table = self.table()
        if table is not None:
            options.registration_options = options.registration_options or configuration.RegistrationOptions()
            options.registration_options.dataset_registration_options = configuration.DatasetRegistrationOptions(
                json.dumps(table)
            )
        if self.upload_options is not None:
            globs = self.upload_options.source_globs
            options.upload_options = configuration.UploadOptions(
                self.upload_options.overwrite, configuration.GlobsOptions(globs) if globs else None
            )
        if self.mount_options is not None:
            options.mount_options = configuration.MountOptions(self.mount_options.disable_metadata_cache)
        return configuration.OutputData(self._location(), self.mode, options, self._name)

    def written_by(self) -> FileDataset:
        """What the last run with this output has written; refused when there is none, or it has not ended."""
        from runyard.sdk.data.file_dataset import FileDataset
        from runyard.sdk.run.run import Run

        if not self._submitted:
            raise UserErrorException(
                f"No run with the output {self._name!r} was submitted here: submit it first, or use the dataset that "
                "it was registered as (Dataset.get_by_name)."
            )
        workspace, run_id = self._submitted[-1]
        status = Run.get(workspace, run_id).get_status()
        if status != "Completed":
            raise UserErrorException(
                f"The run {run_id}, which writes the output {self._name!r}, is {status}. Wait until it has completed: "
                "run.wait_for_completion()."
            )
        return FileDataset(replace(self.as_output(), definition=None).dataset(run_id), workspace)

    def as_output(self) -> contract.Output:
        """The output as a launch has it, as far as it says where the files are, and what they become."""
        location = self._location()
        path = location.data_path if location is not None else None
        return contract.Output(
            self._name,
            (path.datastore_name if path is not None else None) or contract.DEFAULT_DATASTORE,
            (path.relative_path if path is not None else None) or contract.DEFAULT_PATH,
            definition=dict(self.table() or {}) or None,
        )

    def table(self) -> Mapping[str, Any] | None:
        """How the files become a table, if they do (`runyard.contracts.data.outputs`)."""
        return None

    def submitted_as(self, workspace: Workspace, run_id: str) -> None:
        """Remember the run that writes this output."""
        self._submitted[:] = [(workspace, run_id)]

    def _location(self) -> configuration.DataLocation | None:
        if self.destination is None:
            return None
        if not isinstance(self.destination, tuple) or not 1 <= len(self.destination) <= 2:
            raise TypeError(
                f"The destination of the output {self._name!r} is a tuple of a datastore and a path, such as "
                f"(datastore, 'out/{{run-id}}'), not {self.destination!r}."
            )
        path = str(self.destination[1]) if len(self.destination) == 2 else None
        return configuration.DataLocation(data_path=configuration.DataPath(name_of(self.destination[0]), path))

    def _changed(self: Self, **changes: Any) -> Self:
        made = copy.copy(self)
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def __deepcopy__(self: Self, memo: object) -> Self:
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self._name!r}, mode={self.mode!r})"


def _checked(name: str) -> str:
    try:
        return check_input(name)
    except BadDefinition as error:
        raise UserErrorException(str(error)) from None
