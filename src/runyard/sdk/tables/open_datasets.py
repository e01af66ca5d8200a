"""`azureml.opendatasets`: well-known datasets by their public addresses.

An address that is gone, or that this network does not reach, is mapped as any other: `runyard data map`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NoReturn

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
    """A dataset whose files have names that only their host can list."""

    NAME = ""
    ADDRESS = ""

    def __init__(
        self, start_date: datetime | None = None, end_date: datetime | None = None, cols: Any = None, **kwargs: Any
    ) -> None:
        for each in (start_date, end_date):
            if each is not None and not isinstance(each, datetime):
                raise UserErrorException(f"start_date and end_date are datetimes, not {each!r}.")
        self.start_date, self.end_date, self.cols = start_date, end_date, cols

    @classmethod
    def get_tabular_dataset(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise UserErrorException(
            f"The files of {cls.NAME} are known only by listing {cls.ADDRESS}, which this version of Runyard cannot "
            "do. Copy them into a datastore, and use "
            "Dataset.Tabular.from_parquet_files((datastore, 'folder/**/*.parquet'))."
        )

    def to_pandas_dataframe(self, *args: Any, **kwargs: Any) -> NoReturn:
        self.get_tabular_dataset()


class Diabetes(_Parts):
    NAME, ADDRESS = "Diabetes", f"{HOST}/mlsamples/diabetes/"


class NycTlcGreen(_Parts):
    NAME, ADDRESS = "NycTlcGreen", f"{HOST}/nyctlc/green/"


class NycTlcYellow(_Parts):
    NAME, ADDRESS = "NycTlcYellow", f"{HOST}/nyctlc/yellow/"


class NoaaIsdWeather(_Parts):
    NAME, ADDRESS = "NoaaIsdWeather", f"{HOST}/isdweatherdatacontainer/ISDWeather/"


class PublicHolidays(_Parts):
    NAME, ADDRESS = "PublicHolidays", f"{HOST}/holidaydatacontainer/Processed/"
