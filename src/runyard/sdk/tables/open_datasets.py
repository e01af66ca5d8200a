"""`azureml.opendatasets`: well-known datasets by their public addresses.

An address that is gone, or that this network does not reach, is mapped as any other: `runyard data map`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from runyard.sdk.data.dataset_factory import FileDatasetFactory
from runyard.sdk.data.file_dataset import FileDataset
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.tables.tabular_dataset import TabularDataset
from runyard.sdk.tables.tabular_factory import TabularDatasetFactory

HOST = "https://azureopendatastorage.blob.core.windows.net"


class MNIST:
    """Handwritten digits, as the four files that everybody knows, or as a table of pixels."""

    ADDRESS = f"{HOST}/mnist/"

    @classmethod
    def get_file_dataset(cls, dataset_filter: str = "all", **kwargs: Any) -> FileDataset:
        """The gzipped files of images and labels: of 'train', 'test', or 'all'."""
        names = [f"{part}-{what}-ubyte.gz" for part in _chosen(_PARTS, dataset_filter) for what in _WHAT]
        return FileDatasetFactory.from_files([cls.ADDRESS + name for name in names])

    @classmethod
    def get_tabular_dataset(cls, dataset_filter: str = "all", **kwargs: Any) -> TabularDataset:
        """A row for each image, with its pixels and its label."""
        names = [f"processed/{part}.csv" for part in _chosen(_TABLES, dataset_filter)]
        return TabularDatasetFactory.from_delimited_files([cls.ADDRESS + name for name in names])


_PARTS = {"train": ("train",), "test": ("t10k",), "all": ("train", "t10k")}
_TABLES = {"train": ("train",), "test": ("test",), "all": ("train", "test")}
_WHAT = ("images-idx3", "labels-idx1")


def _chosen(parts: dict[str, tuple[str, ...]], dataset_filter: str) -> tuple[str, ...]:
    if dataset_filter not in parts:
        raise UserErrorException(f"dataset_filter is one of {', '.join(parts)}, not {dataset_filter!r}.")
    return parts[dataset_filter]


class _Parts:
    """A dataset whose files have names that only their host can list: it is read where its address is mapped to a
    datastore."""

    NAME = ""
    ADDRESS = ""
    TIME = ""  # the column that start_date and end_date are about

    def __init__(
        self, start_date: datetime | None = None, end_date: datetime | None = None, cols: Any = None, **kwargs: Any
    ) -> None:
        for each in (start_date, end_date):
            if each is not None and not isinstance(each, datetime):
                raise UserErrorException(f"start_date and end_date are datetimes, not {each!r}.")
        self.start_date, self.end_date, self.cols = start_date, end_date, cols

    @classmethod
    def get_tabular_dataset(
        cls, start_date: datetime | None = None, end_date: datetime | None = None, cols: Any = None, **kwargs: Any
    ) -> TabularDataset:
        """Its rows, from one time to another."""
        asked = cls(start_date, end_date, cols)
        found = TabularDatasetFactory.from_parquet_files(cls._files())
        for bound, after in ((asked.start_date, True), (asked.end_date, False)):
            if bound is not None and cls.TIME:
                at = found[cls.TIME]
                found = found.filter(at >= bound if after else at <= bound)
        return found.keep_columns(list(cols)) if cols else found

    def to_pandas_dataframe(self, *args: Any, **kwargs: Any) -> Any:
        return self.get_tabular_dataset(self.start_date, self.end_date, self.cols).to_pandas_dataframe()

    @classmethod
    def _files(cls) -> tuple[Any, str]:
        """The datastore that its address is mapped to, and the pattern of its files there."""
        from runyard.contracts.data import address_map
        from runyard.sdk.datastore.datastore import Datastore
        from runyard.sdk.workspace.workspace import Workspace

        workspace = Workspace.from_config()
        maps = workspace.service.get(f"/api/workspaces/{workspace.name}/data-map")["map"]
        place = address_map.look_up(maps, cls.ADDRESS)
        if place.datastore is None:
            raise UserErrorException(
                f"The files of {cls.NAME} are known only by listing {cls.ADDRESS}, which this version of Runyard "
                f"cannot do. Copy them into a datastore, and say where: `runyard data map {cls.ADDRESS} "
                "datastore:NAME/folder`."
            )
        return Datastore.get(workspace, place.datastore), f"{place.path}/**/*.parquet".lstrip("/")


class Diabetes(_Parts):
    NAME, ADDRESS = "Diabetes", f"{HOST}/mlsamples/diabetes/"


class NycTlcGreen(_Parts):
    NAME, ADDRESS = "NycTlcGreen", f"{HOST}/nyctlc/green/"
    TIME = "lpepPickupDatetime"


class NycTlcYellow(_Parts):
    NAME, ADDRESS = "NycTlcYellow", f"{HOST}/nyctlc/yellow/"
    TIME = "tpepPickupDateTime"


class NoaaIsdWeather(_Parts):
    NAME, ADDRESS = "NoaaIsdWeather", f"{HOST}/isdweatherdatacontainer/ISDWeather/"
    TIME = "datetime"


class PublicHolidays(_Parts):
    NAME, ADDRESS = "PublicHolidays", f"{HOST}/holidaydatacontainer/Processed/"
    TIME = "date"
