"""`TabularDataset`: rows and columns out of files, read when they are asked for."""

from __future__ import annotations

import os
import tempfile
import uuid
from datetime import datetime, timedelta
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, NoReturn, Sequence

from runyard.contracts.data import datasets as datasets_contract
from runyard.contracts.data import tables as contract
from runyard.sdk.data.abstract_dataset import AbstractDataset, must_be_keys
from runyard.sdk.data.file_dataset import FileDataset, _count, _part, _seed
from runyard.sdk.exceptions import AzureMLException, DatasetTimestampMissingError, UserErrorException
from runyard.sdk.tables.expressions import RecordExpression, column
from runyard.sdk.tables.problem import DatasetValidationError, TableProblem

if TYPE_CHECKING:
    from runyard.sdk.tables.profile import DatasetProfile
    from runyard.sdk.tables.reading import Table
    from runyard.sdk.workspace.workspace import Workspace

NULL = "null"
_STEP_NAMES = {
    contract.DELIMITED: "ParseDelimited",
    contract.PARQUET: "ReadParquetFile",
    contract.JSON: "ParseJsonLines",
    contract.KEEP: "KeepColumns",
    contract.DROP: "DropColumns",
    contract.FILTER: "Filter",
    datasets_contract.TAKE: "Take",
    datasets_contract.SKIP: "Skip",
    datasets_contract.SAMPLE: "TakeSample",
}


class TabularDataset(AbstractDataset):
    """A table. Made by `Dataset.Tabular`; every operation gives a new one, and nothing is read before it is needed."""

    def __init__(
        self,
        definition: Mapping[str, Any],
        workspace: Workspace | None = None,
        document: Mapping[str, Any] | None = None,
        listed: AbstractDataset | None = None,
    ) -> None:
        super().__init__(definition, workspace, document)
        self._listed = listed  # a dataset of the same files, which the server lists

    # -- reading ------------------------------------------------------------------------------------------------------

    def to_pandas_dataframe(self, on_error: str = NULL, out_of_range_datetime: str = NULL) -> Any:
        """All rows in pandas. What does not fit the type of its column is null, unless on_error='fail'; so are times
        that pandas cannot hold, unless out_of_range_datetime='error'."""
        table = self._table()
        found = table.engine.frame(table.batches(fail=on_error != NULL, whole=True), out_of_range_datetime)
        timestamp = self.timestamp_columns[0]
        if timestamp is not None and timestamp in found.columns:
            found.index = found[timestamp].rename(None)
            found.index.name = None
        return found

    def to_dask_dataframe(
        self,
        sample_size: int = 10_000,
        dtypes: Mapping[str, Any] | None = None,
        on_error: str = NULL,
        out_of_range_datetime: str = NULL,
    ) -> Any:
        """The rows in dask, which is to be installed."""
        try:
            from dask.dataframe import from_pandas
        except ImportError:
            raise AzureMLException(
                "A dask DataFrame needs dask, which this environment does not have. Add it: `pip install "
                "'dask[dataframe]'`; or use to_pandas_dataframe()."
            ) from None
        frame = self.to_pandas_dataframe(on_error, out_of_range_datetime)
        return from_pandas(frame.astype(dict(dtypes)) if dtypes else frame, npartitions=max(1, os.cpu_count() or 1))

    def to_spark_dataframe(self) -> Any:
        """The rows in Spark, which is to be installed."""
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise AzureMLException(
                "A Spark DataFrame needs pyspark, which this environment does not have. Add it: `pip install pyspark` "
                "(and Java); or use to_pandas_dataframe()."
            ) from None
        return SparkSession.builder.getOrCreate().createDataFrame(self.to_pandas_dataframe())

    # -- rows and columns ---------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> RecordExpression:
        """A column, for `filter`."""
        return column(name)

    def take(self, count: int) -> TabularDataset:
        """The first rows."""
        return self._with({"step": datasets_contract.TAKE, "count": _count(count)})

    def skip(self, count: int) -> TabularDataset:
        """All but the first rows."""
        return self._with({"step": datasets_contract.SKIP, "count": _count(count)})

    def take_sample(self, probability: float, seed: int | None = None) -> TabularDataset:
        """Each row with a probability. The same dataset always has the same rows."""
        return self._with({"step": datasets_contract.SAMPLE, "probability": _part(probability), "seed": _seed(seed)})

    def random_split(self, percentage: float, seed: int | None = None) -> tuple[TabularDataset, TabularDataset]:
        """Two datasets: about this part of the rows, and the others."""
        step = {"step": datasets_contract.SAMPLE, "probability": _part(percentage), "seed": _seed(seed)}
        return self._with(step), self._with({**step, "rest": True})

    def filter(self, expression: Any) -> TabularDataset:
        """The rows for which an expression is true: `dataset.filter(dataset['age'] > 30)`."""
        if not isinstance(expression, RecordExpression):
            raise UserErrorException(
                f"A filter is an expression over columns, such as dataset['age'] > 30, not {expression!r}."
            )
        return self._with({"step": contract.FILTER, "expression": expression.document})

    def keep_columns(self, columns: Sequence[str] | str, validate: bool = False) -> TabularDataset:
        """Only these columns, in the order that they have."""
        names = _names(columns)
        if validate:
            self._must_have(names)
        kept = self._with({"step": contract.KEEP, "columns": names})
        return kept._without_times(lambda name: name not in names)

    def drop_columns(self, columns: Sequence[str] | str) -> TabularDataset:
        """All but these columns."""
        names = _names(columns)
        return self._with({"step": contract.DROP, "columns": names})._without_times(lambda name: name in names)

    # -- times --------------------------------------------------------------------------------------------------------

    @property
    def timestamp_columns(self) -> tuple[str | None, str | None]:
        """The columns with the time of a row, and with the time of its partition."""
        known = self._definition.get("timestamp") or {}
        return known.get("timestamp"), known.get("partition")

    def with_timestamp_columns(
        self,
        timestamp: str | None = None,
        partition_timestamp: str | None = None,
        validate: bool = False,
        **kwargs: Any,
    ) -> TabularDataset:
        """Say which columns have the times, for `time_before` and its kin. None takes them back."""
        old = {name: kwargs.pop(name) for name in ("fine_grain_timestamp", "coarse_grain_timestamp") if name in kwargs}
        if kwargs:
            raise TypeError(f"with_timestamp_columns has no argument {min(kwargs)!r}.")
        if old:
            if timestamp is not None or partition_timestamp is not None:
                raise UserErrorException("Use timestamp and partition_timestamp, or their older names, but not both.")
            timestamp, partition_timestamp = old.get("fine_grain_timestamp"), old.get("coarse_grain_timestamp")
        if partition_timestamp is not None and timestamp is None:
            raise UserErrorException("A partition_timestamp goes with a timestamp: name that column too.")
        if timestamp is not None and timestamp == partition_timestamp:
            raise UserErrorException("The timestamp and the partition_timestamp are two different columns.")
        if validate:
            self._must_have([name for name in (timestamp, partition_timestamp) if name is not None])
        named = {"timestamp": timestamp, "partition": partition_timestamp}
        return self._changed(timestamp=named if timestamp is not None else None)

    def time_before(self, end_time: datetime, include_boundary: bool = True, validate: bool = True) -> TabularDataset:
        """The rows up to a time."""
        return self._between(None, end_time, include_boundary, validate)

    def time_after(self, start_time: datetime, include_boundary: bool = True, validate: bool = True) -> TabularDataset:
        """The rows from a time on."""
        return self._between(start_time, None, include_boundary, validate)

    def time_between(
        self, start_time: datetime, end_time: datetime, include_boundary: bool = True, validate: bool = True
    ) -> TabularDataset:
        """The rows between two times."""
        return self._between(start_time, end_time, include_boundary, validate)

    def time_recent(
        self, time_delta: timedelta, include_boundary: bool = True, validate: bool = True
    ) -> TabularDataset:
        """The rows of the time up to now."""
        if not isinstance(time_delta, timedelta):
            raise TypeError(f"time_recent has a timedelta, not {time_delta!r}.")
        return self._between(datetime.now() - time_delta, None, include_boundary, validate)

    def _between(self, start: Any, end: Any, include_boundary: bool, validate: bool) -> TabularDataset:
        timestamp, partition = self.timestamp_columns
        if timestamp is None:
            raise DatasetTimestampMissingError(
                "The dataset has no timestamp: say which column has the times, "
                "dataset.with_timestamp_columns('column')."
            )
        if validate:
            self._must_be_times([name for name in (timestamp, partition) if name is not None])
        found = self
        for name in (timestamp, partition):
            if name is not None and start is not None:
                bound = _time(start).replace(microsecond=0)
                found = found.filter(column(name) >= bound if include_boundary else column(name) > bound)
            if name is not None and end is not None:
                bound = _rounded(_time(end))
                found = found.filter(column(name) <= bound if include_boundary else column(name) < bound)
        return found

    def _must_be_times(self, names: Sequence[str]) -> None:
        frame = self.take(1)._table()
        for batch in frame.batches():
            for name in names:
                if name not in frame.engine.names(batch):
                    raise DatasetValidationError(f"The dataset has no column {name!r}, which is its timestamp.")
                if not all(value is None or isinstance(value, datetime) for value in frame.engine.values(batch, name)):
                    raise DatasetValidationError(f"The column {name!r}, which is the timestamp, holds no times.")

    # -- profiles -----------------------------------------------------------------------------------------------------

    def get_profile(self, workspace: Workspace | None = None) -> DatasetProfile:
        """What each column holds: counts, bounds, means. All rows are read for it, in this process."""
        from runyard.sdk.tables.profile import profiled

        return profiled(self._table())

    def get_profile_runs(self, workspace: Workspace | None = None) -> list[Any]:
        """Runs that made a profile: there are none, since `get_profile` makes it."""
        return []

    def submit_profile_run(
        self, compute_target: Any, experiment: Any, cache_datastore_name: str | None = None
    ) -> NoReturn:
        """A run that makes a profile, which this version has no need of."""
        raise UserErrorException(
            "This version of Runyard makes profiles where they are asked for: dataset.get_profile(), also in the "
            "script of a run."
        )

    # -- partitions ---------------------------------------------------------------------------------------------------

    @property
    def partition_keys(self) -> list[str]:
        """The columns that come from the paths of the files."""
        format = self._definition["read"].get("partition_format")
        return [name for name, _ in contract.partition_columns(format)] if format else []

    def get_partition_key_values(self, partition_keys: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """The distinct values of the columns that come from paths. No file is read."""
        from runyard.contracts.data.partitions import distinct_values
        from runyard.sdk.tables.files import shown_path

        wanted = list(partition_keys) if partition_keys is not None else self.partition_keys
        must_be_keys(wanted, self.partition_keys)
        definition = datasets_contract.parse(self._definition)
        paths = (shown_path(definition, each) for each in (self._listed or self)._listing().files)
        return distinct_values(self._definition["read"]["partition_format"], paths, wanted)

    def partition_by(
        self,
        partition_keys: Sequence[str],
        target: Any,
        name: str | None = None,
        show_progress: bool = True,
        partition_as_file_dataset: bool = False,
    ) -> Any:
        """Write the rows to a datastore, in a folder for each combination of the keys' values, and return the dataset
        of what was written; with a name, as a new version of it."""
        from runyard.sdk.data.dataset_factory import FileDatasetFactory
        from runyard.sdk.tables.frames import target_of
        from runyard.sdk.tables.tabular_factory import TabularDatasetFactory
        from runyard.sdk.tables.writing import write_partitions

        keys = list(partition_keys)
        must_be_keys(keys, self._columns())
        store, path = target_of(target)
        path = f"{path}/{uuid.uuid4()}"
        with tempfile.TemporaryDirectory() as folder:
            rows = write_partitions(self._table(), Path(folder), keys)
            if not rows:
                raise UserErrorException("There are no rows to write.")
            if show_progress:
                print(f"Writing {rows:,} rows to {path} in {store.name}.")
            store.upload(src_dir=folder, target_path=path, overwrite=True, show_progress=False)
        sources = (store, f"{path}/**/*.parquet")
        format = f"/{path}/" + "/".join(f"{{{key}}}" for key in keys) + "/*.parquet"
        if partition_as_file_dataset:
            made: Any = FileDatasetFactory.from_files(sources, partition_format=format)
        else:
            made = TabularDatasetFactory.from_parquet_files(sources, validate=False, partition_format=format)
        return made if name is None else made.register(store.workspace, name, create_new_version=True)

    # -- files --------------------------------------------------------------------------------------------------------

    def to_csv_files(self, separator: str = ",") -> FileDataset:
        """The table as delimited files, which are written when they are first asked for."""
        from runyard.sdk.tables.writing import write_csv
        from runyard.sdk.tables.written_files import WrittenFiles

        if not isinstance(separator, str) or len(separator) != 1:
            raise ValueError(f"The separator is one character, not {separator!r}.")
        return WrittenFiles(self, f"WriteDelimited {separator!r}", lambda table, to: write_csv(table, to, separator))

    def to_parquet_files(self) -> FileDataset:
        """The table as Parquet files, which are written when they are first asked for."""
        from runyard.sdk.tables.writing import write_parquet
        from runyard.sdk.tables.written_files import WrittenFiles

        return WrittenFiles(self, "WriteParquet", write_parquet)

    def download(
        self,
        stream_column: str,
        target_path: str | None = None,
        overwrite: bool = False,
        ignore_not_found: bool = True,
    ) -> NoReturn:
        """Columns whose values are files, which this version does not follow."""
        raise _no_streams(stream_column)

    def mount(self, stream_column: str, mount_point: str | None = None) -> NoReturn:
        """Columns whose values are files, which this version does not follow."""
        raise _no_streams(stream_column)

    # -- within -------------------------------------------------------------------------------------------------------

    def _table(self) -> Table:
        from runyard.sdk.tables.engines.base import chosen_engine
        from runyard.sdk.tables.files import table_files
        from runyard.sdk.tables.reading import Table

        if self._definition["read"]["format"] == contract.SQL:
            return Table(self._definition, lambda: (), chosen_engine(), self._queried)
        listed = self._listed or self
        found = listed._listing().files
        files = FileDataset(listed._definition, listed._workspace, listed._document)
        definition = datasets_contract.parse(self._definition)
        return Table(self._definition, lambda: table_files(files, found, definition), chosen_engine())

    def _queried(self) -> Iterator[Any]:
        """The rows of the query that this table is made of."""
        from runyard.sdk.tables import sql

        read = self._definition["read"]
        name = str(self._definition["sources"][0]["datastore"])
        return sql.rows(sql.login(self._saved(), name), read["query"], read["timeout"])

    def _repr_html_(self) -> str:
        """For notebooks: the columns with their types, as the definition has them. Nothing is read."""
        read = self._definition["read"]
        types = {**(read.get("inferred") or {}), **(read.get("types") or {})}
        columns = "".join(f"<tr><td>{escape(name)}</td><td>{type['type']}</td></tr>" for name, type in types.items())
        table = f"<table><tr><th>column</th><th>type</th></tr>{columns}</table>" if columns else ""
        sources = ", ".join(escape(str(each)) for each in datasets_contract.parse(self._definition).sources[:3])
        title = f"{escape(self.name)}, version {self.version}" if self.name else "TabularDataset"
        return f"<p><b>{title}</b>: {sources}<br>{' → '.join(map(escape, self._steps()))}</p>{table}"

    def _steps(self) -> list[str]:
        read = self._definition["read"]
        typed = ["SetColumnTypes"] if read.get("types") or read.get("inferred") else []
        return [_STEP_NAMES[read["format"]], *typed, *(_STEP_NAMES[str(step["step"])] for step in self._chosen())]

    def _chosen(self) -> Sequence[Mapping[str, Any]]:
        return self._definition.get("steps") or ()

    def _with(self, step: dict[str, Any]) -> TabularDataset:
        return self._changed(steps=[*self._chosen(), step])

    def _changed(self, **parts: Any) -> TabularDataset:
        definition = {**self._definition, **parts}
        definition = {name: value for name, value in definition.items() if value is not None}
        return TabularDataset(definition, self._workspace, listed=self._listed or (self if self.id else None))

    def _without_times(self, is_gone: Any) -> TabularDataset:
        timestamp, partition = self.timestamp_columns
        if timestamp is None or is_gone(timestamp):
            return self._changed(timestamp=None)
        left = None if partition is None or is_gone(partition) else partition
        return self._changed(timestamp={"timestamp": timestamp, "partition": left})

    def _columns(self) -> list[str]:
        table = self._table()
        return next((table.engine.names(batch) for batch in table.batches()), [])

    def _must_have(self, names: Sequence[str]) -> None:
        known = self._columns()
        unknown = [name for name in names if name not in known]
        if unknown:
            raise DatasetValidationError(f"The dataset has no column {unknown[0]!r}. It has: {', '.join(known[:20])}.")


def _names(columns: Sequence[str] | str) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or not all(isinstance(name, str) for name in names):
        raise UserErrorException(f"Columns are named by a list of texts, not {columns!r}.")
    return names


def _time(value: Any) -> datetime:
    if not isinstance(value, datetime) or value.tzinfo is not None:
        raise TypeError(f"A time is a datetime without a zone, not {value!r}.")
    return value


def _rounded(value: datetime) -> datetime:
    """The upper bound of a time: seconds are what SDK v1 compares."""
    up = timedelta(seconds=1 if value.microsecond > 500_000 else 0)
    return value.replace(microsecond=0) + up


def _no_streams(name: str) -> UserErrorException:
    return TableProblem(
        f"The column {name!r} holds no files that could be fetched.",
        "Make a file dataset of them: Dataset.File.from_files([...]).",
    )
