"""`Dataset.Tabular`: tables out of delimited files, Parquet and JSON lines."""

from __future__ import annotations

from typing import Any, Mapping

from runyard.contracts.data import datasets as datasets_contract
from runyard.contracts.data import tables as contract
from runyard.sdk.data.datapath import DataPath
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.tables.data_type import (
    DataType,
    PromoteHeadersBehavior,
    column_types,
    encoding_setting,
    header_setting,
)
from runyard.sdk.tables.problem import DatasetValidationError
from runyard.sdk.tables.tabular_dataset import TabularDataset


class TabularDatasetFactory:
    """`Dataset.Tabular`."""

    @staticmethod
    def from_delimited_files(
        path: Any,
        validate: bool = True,
        include_path: bool = False,
        infer_column_types: bool = True,
        set_column_types: Mapping[str, DataType] | None = None,
        separator: str = ",",
        header: bool | PromoteHeadersBehavior | str = True,
        partition_format: str | None = None,
        support_multi_line: bool = False,
        empty_as_string: bool = False,
        encoding: str = "utf8",
    ) -> TabularDataset:
        """A table of delimited files. Types are worked out from the first 200 rows."""
        if not isinstance(separator, str) or len(separator) != 1:
            raise ValueError(f"The separator is one character, not {separator!r}.")
        read = {
            "format": contract.DELIMITED,
            "separator": separator,
            "header": header_setting(header),
            "encoding": encoding_setting(encoding),
            "multi_line": bool(support_multi_line),
            "empty_as_string": bool(empty_as_string),
            "infer": bool(infer_column_types),
            "types": column_types(set_column_types),
            **_of_paths(include_path, partition_format),
        }
        made = _dataset(path, read)
        undecided = [name for name, type in read["types"].items() if type == {"type": contract.DATETIME}]
        if infer_column_types or undecided:
            made = _inferred(made, undecided)
        elif validate:
            _must_have_rows(made)
        return made

    @staticmethod
    def from_parquet_files(
        path: Any,
        validate: bool = True,
        include_path: bool = False,
        set_column_types: Mapping[str, DataType] | None = None,
        partition_format: str | None = None,
    ) -> TabularDataset:
        """A table of Parquet files, with the types that they have."""
        read = {
            "format": contract.PARQUET,
            "types": column_types(set_column_types),
            **_of_paths(include_path, partition_format),
        }
        return _validated(_dataset(path, read), validate)

    @staticmethod
    def from_json_lines_files(
        path: Any,
        validate: bool = True,
        include_path: bool = False,
        set_column_types: Mapping[str, DataType] | None = None,
        partition_format: str | None = None,
        invalid_lines: str = "error",
        encoding: str = "utf8",
    ) -> TabularDataset:
        """A table of files with a JSON object in each line."""
        if invalid_lines not in ("error", "drop"):
            raise UserErrorException(f"invalid_lines is 'error' or 'drop', not {invalid_lines!r}.")
        read = {
            "format": contract.JSON,
            "types": column_types(set_column_types),
            "invalid_lines": invalid_lines,
            "encoding": encoding_setting(encoding),
            **_of_paths(include_path, partition_format),
        }
        return _validated(_dataset(path, read), validate)

    @staticmethod
    def from_sql_query(
        query: Any,
        validate: bool = True,
        set_column_types: Mapping[str, DataType] | None = None,
        query_timeout: int = 30,
    ) -> TabularDataset:
        """Rows out of a database: (datastore, 'SELECT ...') or a DataPath of those. They are read by this process, with
        the driver that its environment has, each time anew."""
        if isinstance(query, DataPath):
            query = (query.datastore, query.path_on_datastore or "")
        if not isinstance(query, tuple) or len(query) != 2 or not isinstance(query[1], str) or not query[1].strip():
            raise UserErrorException(f"{query!r} is no query: give (datastore, 'SELECT ...') or a DataPath.")
        if isinstance(query_timeout, bool) or not isinstance(query_timeout, int) or query_timeout < 1:
            raise UserErrorException(f"query_timeout is a number of seconds from 1 on, not {query_timeout!r}.")
        types = column_types(set_column_types)
        read = {"format": contract.SQL, "query": query[1], "timeout": query_timeout, "types": types}
        made = _dataset((query[0], ""), read)
        try:
            return _validated(made, validate)
        except UserErrorException as problem:
            raise DatasetValidationError(str(problem.message), inner_exception=problem) from None

    @staticmethod
    def register_pandas_dataframe(
        dataframe: Any,
        target: Any,
        name: str,
        description: str | None = None,
        tags: Mapping[str, str] | None = None,
        show_progress: bool = True,
        row_group_size: int | None = None,
        make_target_path_unique: bool = True,
    ) -> TabularDataset:
        """Write a frame of pandas to a datastore as Parquet, and register it: always as a new version."""
        from runyard.sdk.tables.frames import register_frame

        options = (show_progress, row_group_size, make_target_path_unique)
        return register_frame(dataframe, target, name, description, tags, *options)

    @staticmethod
    def register_spark_dataframe(
        dataframe: Any,
        target: Any,
        name: str,
        description: str | None = None,
        tags: Mapping[str, str] | None = None,
        show_progress: bool = True,
    ) -> TabularDataset:
        """The same for a frame of Spark, which must fit into this process."""
        if not hasattr(dataframe, "toPandas"):
            raise ValueError(f"What is registered is a Spark DataFrame, not a {type(dataframe).__name__}.")
        from runyard.sdk.tables.frames import register_frame

        return register_frame(dataframe.toPandas(), target, name, description, tags, show_progress, None, True)

    @staticmethod
    def register_dask_dataframe(
        dataframe: Any,
        target: Any,
        name: str,
        description: str | None = None,
        tags: Mapping[str, str] | None = None,
        show_progress: bool = True,
    ) -> TabularDataset:
        """The same for a frame of dask, which must fit into this process."""
        if not hasattr(dataframe, "compute"):
            raise ValueError(f"What is registered is a dask DataFrame, not a {type(dataframe).__name__}.")
        from runyard.sdk.tables.frames import register_frame

        return register_frame(dataframe.compute(), target, name, description, tags, show_progress, None, True)


def _of_paths(include_path: bool, partition_format: str | None) -> dict[str, Any]:
    if partition_format is not None:
        fault = contract.partition_fault(str(partition_format))
        if fault:
            raise UserErrorException(f"The partition_format {partition_format!r} cannot be used: {fault}.")
    return {"include_path": bool(include_path), "partition_format": partition_format}


def _dataset(path: Any, read: Mapping[str, Any]) -> TabularDataset:
    """A table of the files that paths name, which are the same as those of a file dataset."""
    from runyard.sdk.data.dataset_factory import FileDatasetFactory

    files = FileDatasetFactory.from_files(path)
    definition = {
        "kind": datasets_contract.TABULAR,
        "sources": files._definition["sources"],
        "read": dict(read),
        "steps": [],
    }
    try:
        datasets_contract.parse(definition)
    except datasets_contract.BadDefinition as error:
        raise UserErrorException(str(error)) from None
    return TabularDataset(definition, files._workspace, listed=files)


def _inferred(made: TabularDataset, undecided: list[str]) -> TabularDataset:
    """The same table with the types of its columns. One without rows is refused."""
    table = _read(made)
    found = table.inferred()
    if not found:
        raise _no_rows(made)
    read = dict(made._definition["read"])
    for name in undecided:
        if found.get(name, {}).get("type") != contract.DATETIME and name in found:
            raise UserErrorException(
                f"The formats of the dates in the column {name!r} cannot be worked out from its first rows: give them, "
                "DataType.to_datetime('%d.%m.%Y')."
            )
    read["types"] = {name: found.get(name, type) if name in undecided else type for name, type in read["types"].items()}
    read["inferred"] = found if read["infer"] else None
    return made._changed(read=read)


def _validated(made: TabularDataset, validate: bool) -> TabularDataset:
    if validate:
        _must_have_rows(made)
    return made


def _must_have_rows(made: TabularDataset) -> None:
    if made._definition["read"]["format"] != contract.SQL and not any(True for _ in _read(made).files()):
        raise _no_rows(made)
    table = _read(made.take(1))
    if not any(table.engine.length(batch) for batch in table.batches()):
        raise _no_rows(made)


def _read(made: TabularDataset) -> Any:
    try:
        return made._table()
    except UserErrorException as error:
        raise DatasetValidationError(str(error.message), inner_exception=error) from None


def _no_rows(made: TabularDataset) -> DatasetValidationError:
    sources = ", ".join(str(each) for each in datasets_contract.parse(made._definition).sources[:3])
    return DatasetValidationError(f"There are no rows in {sources}. A table needs a header and a row, or a row.")
