"""A path in a datastore that a run sees as a folder. Only the description: the data itself is moved elsewhere."""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING, Protocol, Union

from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.data.configuration import DataReferenceConfiguration
    from runyard.sdk.data.datapath import DataPath, DataPathComputeBinding

MODES = ("mount", "download", "upload")
VARIABLE = "AZUREML_DATAREFERENCE_"
"""The environment variable that holds the path in a run begins with this; the reference's name follows."""


class Named(Protocol):
    @property
    def name(self) -> str: ...


DatastoreLike = Union[Named, str]
"""A datastore, or its name."""


def name_of(datastore: DatastoreLike) -> str:
    return datastore if isinstance(datastore, str) else datastore.name


def check_mode(mode: str) -> str:
    if mode not in MODES:
        raise UserErrorException(f"{mode!r} is no mode of a data reference: use one of {', '.join(MODES)}.")
    return mode


class DataReference:
    """A path in a datastore, and how a run accesses it.

    As a script's argument it becomes the path in the run:

    >>> str(DataReference("workspaceblobstore", "images"))
    '$AZUREML_DATAREFERENCE_images'
    """

    def __init__(
        self,
        datastore: DatastoreLike,
        data_reference_name: str | None = None,
        path_on_datastore: str | None = None,
        mode: str = "mount",
        path_on_compute: str | None = None,
        overwrite: bool = False,
    ) -> None:
        self.datastore = datastore
        # Several paths of one datastore need different names; without a path the datastore's own will do.
        self.data_reference_name = data_reference_name or (
            os.urandom(16).hex() if path_on_datastore else name_of(datastore)
        )
        self.path_on_datastore = path_on_datastore
        self.mode = check_mode(mode)
        self.path_on_compute = path_on_compute
        self.overwrite = overwrite

    @property
    def datastore_name(self) -> str:
        return name_of(self.datastore)

    @property
    def environment_variable_name(self) -> str:
        return VARIABLE + self.data_reference_name

    def path(self, path: str | None = None, data_reference_name: str | None = None) -> DataReference:
        """A reference to something below this one."""
        below = posixpath.join(self.path_on_datastore or "", path) if path else self.path_on_datastore
        return DataReference(
            self.datastore, data_reference_name, below, self.mode, self.path_on_compute, self.overwrite
        )

    def as_download(self, path_on_compute: str | None = None, overwrite: bool = False) -> DataReference:
        """The same reference, downloaded before the script starts."""
        return self._changed("download", path_on_compute, overwrite)

    def as_upload(self, path_on_compute: str | None = None, overwrite: bool = False) -> DataReference:
        """The same reference, uploaded when the script has ended."""
        return self._changed("upload", path_on_compute, overwrite)

    def as_mount(self) -> DataReference:
        """The same reference, read in place."""
        return self._changed("mount", None, False)

    def to_config(self) -> DataReferenceConfiguration:
        """The reference as a section of a run configuration."""
        from runyard.sdk.data.configuration import DataReferenceConfiguration

        return DataReferenceConfiguration(
            self.datastore_name, self.mode, self.path_on_datastore, self.path_on_compute, self.overwrite
        )

    @staticmethod
    def create(
        data_reference_name: str | None = None,
        datapath: DataPath | None = None,
        datapath_compute_binding: DataPathComputeBinding | None = None,
    ) -> DataReference:
        """A reference to a path, bound as given; mounted by default."""
        from runyard.sdk.data.datapath import DataPathComputeBinding

        if datapath is None:
            raise UserErrorException("A data reference needs a datapath: DataPath(datastore, path_on_datastore).")
        binding = datapath_compute_binding or DataPathComputeBinding()
        return binding.create_data_reference(data_reference_name, datapath)

    def _changed(self, mode: str, path_on_compute: str | None, overwrite: bool) -> DataReference:
        return DataReference(
            self.datastore, self.data_reference_name, self.path_on_datastore, mode, path_on_compute, overwrite
        )

    def __str__(self) -> str:
        return "$" + self.environment_variable_name

    __repr__ = __str__
