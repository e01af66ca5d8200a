"""The parts of a run configuration about the data that a run reads and writes. Nothing is moved here."""

from __future__ import annotations

from typing import Any, Mapping

from runyard.sdk.configuration import Configuration, of
from runyard.sdk.data.data_reference import DataReference, check_mode
from runyard.system.records import field, record


@record(repr=False, init=False)
class DataReferenceConfiguration(Configuration):
    """A path of a datastore that is mounted, downloaded before the run, or uploaded after it."""

    data_store_name: str | None = None
    mode: str = "mount"
    path_on_data_store: str | None = None
    path_on_compute: str | None = None
    overwrite: bool = False

    def __init__(
        self,
        datastore_name: str | None = None,
        mode: str = "mount",
        path_on_datastore: str | None = None,
        path_on_compute: str | None = None,
        overwrite: bool = False,
    ) -> None:
        self.data_store_name = datastore_name
        self.mode = check_mode(mode)
        self.path_on_data_store = path_on_datastore
        self.path_on_compute = path_on_compute
        self.overwrite = overwrite


@record(repr=False)
class DataPath(Configuration):
    """A path in a datastore. (The class of the same name in `azureml.data.datapath` is what users give to others.)"""

    datastore_name: str | None = None
    relative_path: str | None = None


@record(repr=False, init=False)
class Dataset(Configuration):
    """A registered dataset, by id or by name and version."""

    id: str | None = None
    name: str | None = None
    version: str | None = None

    def __init__(
        self, dataset_id: str | None = None, dataset_name: str | None = None, dataset_version: str | None = None
    ) -> None:
        self.id = dataset_id
        self.name = dataset_name
        self.version = dataset_version

    @property
    def unsaved(self) -> Any:
        """A dataset without an id, which gets one when the run is submitted. It is no part of the configuration."""
        return self.__dict__.get("_unsaved")

    @unsaved.setter
    def unsaved(self, dataset: Any) -> None:
        self.__dict__["_unsaved"] = dataset


@record(repr=False)
class DataLocation(Configuration):
    """Where data is: a dataset or a path in a datastore."""

    dataset: Dataset | None = field(default=None, metadata=of(Dataset))
    data_path: DataPath | None = field(default=None, metadata=of(DataPath))


@record(repr=False)
class Data(Configuration):
    """One input of a run."""

    data_location: DataLocation | None = field(default=None, metadata=of(DataLocation))
    create_output_directories: bool | None = None
    mechanism: str = "direct"
    environment_variable_name: str | None = None
    path_on_compute: str | None = None
    overwrite: bool = False
    options: dict[str, str] | None = None

    @staticmethod
    def create(data: Data | DataReference | Mapping[str, Any]) -> Data:
        """An input from a data reference, or from the dictionary form of an input."""
        if isinstance(data, Data):
            return data
        if isinstance(data, DataReference):
            return Data(
                DataLocation(data_path=DataPath(data.datastore_name, data.path_on_datastore)),
                mechanism=data.mode,
                environment_variable_name=data.environment_variable_name,
                path_on_compute=data.path_on_compute,
                overwrite=data.overwrite,
            )
        if isinstance(data, Mapping):
            return Data.from_dict(data)
        raise TypeError(f"An input is made from a DataReference or a dictionary, not from a {type(data).__name__}.")


@record(repr=False)
class GlobsOptions(Configuration):
    """Patterns of the files that count."""

    patterns: list[str] | None = None


@record(repr=False)
class UploadOptions(Configuration):
    overwrite: bool = False
    source_globs: GlobsOptions | None = field(default=None, metadata=of(GlobsOptions))


@record(repr=False)
class MountOptions(Configuration):
    disable_metadata_cache: bool = False


@record(repr=False)
class DatasetRegistrationOptions(Configuration):
    additional_transformation: str | None = None


@record(repr=False)
class RegistrationOptions(Configuration):
    """The dataset that an output becomes when the run has completed."""

    name: str | None = None
    description: str | None = None
    tags: dict[str, str] | None = None
    dataset_registration_options: DatasetRegistrationOptions | None = field(
        default=None, metadata=of(DatasetRegistrationOptions)
    )


@record(repr=False)
class OutputOptions(Configuration):
    path_on_compute: str | None = None
    registration_options: RegistrationOptions | None = field(default=None, metadata=of(RegistrationOptions))
    upload_options: UploadOptions | None = field(default=None, metadata=of(UploadOptions))
    mount_options: MountOptions | None = field(default=None, metadata=of(MountOptions))


@record(repr=False)
class OutputData(Configuration):
    """One output of a run."""

    output_location: DataLocation | None = field(default=None, metadata=of(DataLocation))
    mechanism: str = "mount"
    additional_options: OutputOptions | None = field(default=None, metadata=of(OutputOptions))
    environment_variable_name: str | None = None
