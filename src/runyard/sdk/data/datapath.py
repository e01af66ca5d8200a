"""A path in a datastore, independent of any run, and how a run is to see such a path."""

from __future__ import annotations

import os

from runyard.sdk.data.data_reference import DataReference, DatastoreLike, check_mode, name_of
from runyard.sdk.exceptions import UserErrorException


class DataPath:
    """A path in a datastore."""

    def __init__(
        self, datastore: DatastoreLike | None = None, path_on_datastore: str | None = None, name: str | None = None
    ) -> None:
        if datastore is None:
            raise ValueError("A DataPath needs a datastore: DataPath(ws.get_default_datastore(), 'images').")
        self._datastore = datastore
        self._path_on_datastore = path_on_datastore
        self.name = name or f"{name_of(datastore)}_{os.urandom(4).hex()}"

    @property
    def datastore(self) -> DatastoreLike:
        return self._datastore

    @property
    def datastore_name(self) -> str:
        return name_of(self._datastore)

    @property
    def path_on_datastore(self) -> str | None:
        return self._path_on_datastore

    def create_data_reference(
        self,
        data_reference_name: str | None = None,
        datapath_compute_binding: DataPathComputeBinding | None = None,
    ) -> DataReference:
        """A reference to this path; ValueError without a binding."""
        if datapath_compute_binding is None:
            raise ValueError("Say how the path is seen: datapath_compute_binding=DataPathComputeBinding('mount').")
        return datapath_compute_binding.create_data_reference(data_reference_name, self)

    @staticmethod
    def create_from_data_reference(data_reference: DataReference) -> DataPath:
        return DataPath(data_reference.datastore, data_reference.path_on_datastore, data_reference.data_reference_name)

    def __repr__(self) -> str:
        return f"DataPath({self.datastore_name!r}, {self._path_on_datastore!r})"


class DataPathComputeBinding:
    """How a path is seen in a run: mounted, downloaded or uploaded, and where."""

    def __init__(self, mode: str = "mount", path_on_compute: str | None = None, overwrite: bool = False) -> None:
        self.mode = check_mode(mode)
        self.path_on_compute = path_on_compute
        self.overwrite = overwrite

    def create_data_reference(
        self, data_reference_name: str | None = None, datapath: DataPath | None = None
    ) -> DataReference:
        if datapath is None:
            raise UserErrorException("A data reference needs a datapath: DataPath(datastore, path_on_datastore).")
        return DataReference(
            datapath.datastore,
            data_reference_name or datapath.name,
            datapath.path_on_datastore,
            self.mode,
            self.path_on_compute,
            self.overwrite,
        )

    @staticmethod
    def create_from_data_reference(data_reference: DataReference) -> DataPathComputeBinding:
        return DataPathComputeBinding(data_reference.mode, data_reference.path_on_compute, data_reference.overwrite)
