"""Tables that a run writes as files: an output, and how the dataset that it becomes reads the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from runyard.contracts.data import datasets as datasets_contract
from runyard.contracts.data import tables as contract
from runyard.sdk.data.dataset_consumption import DIRECT, DatasetConsumptionConfig
from runyard.sdk.data.output_dataset_config import OutputFileDatasetConfig
from runyard.sdk.tables.data_type import column_types, encoding_setting, header_setting

if TYPE_CHECKING:
    from runyard.sdk.tables.data_type import DataType, PromoteHeadersBehavior
    from runyard.sdk.tables.tabular_dataset import TabularDataset


class OutputTabularDatasetConfig(OutputFileDatasetConfig):
    """A folder that a script writes delimited or Parquet files to, which become a table. It is made by
    `OutputFileDatasetConfig.read_delimited_files` and `read_parquet_files`."""

    def __init__(self, **kwargs: Any) -> None:
        files = kwargs.get("_files")
        if not isinstance(files, OutputFileDatasetConfig):
            raise ValueError(
                "An output that is a table is made by OutputFileDatasetConfig(...).read_delimited_files() or "
                ".read_parquet_files()."
            )
        self.__dict__.update(files.__dict__)
        self._table: dict[str, Any] = kwargs["_table"]

    def keep_columns(self, columns: Sequence[str] | str) -> OutputTabularDatasetConfig:
        """The same output; the table has only these columns."""
        return self._with({"step": contract.KEEP, "columns": _names(columns)})

    def drop_columns(self, columns: Sequence[str] | str) -> OutputTabularDatasetConfig:
        """The same output; the table has all but these columns."""
        return self._with({"step": contract.DROP, "columns": _names(columns)})

    def random_split(
        self, percentage: float, seed: int | None = None
    ) -> tuple[OutputTabularDatasetConfig, OutputTabularDatasetConfig]:
        """Two outputs: the table of one has about this part of the rows of its files, that of the other the rest."""
        import random

        if not 0 <= percentage <= 1:
            raise ValueError(f"A part of a table is a number from 0 to 1, not {percentage!r}.")
        chosen = random.SystemRandom().randrange(1 << 31) if seed is None else int(seed)
        step = {"step": datasets_contract.SAMPLE, "probability": float(percentage), "seed": chosen}
        first, second = self._with(step), self._with({**step, "rest": True})
        first._name, second._name = f"{self._name}_1", f"{self._name}_2"
        return first, second

    def as_input(self, name: str | None = None) -> DatasetConsumptionConfig:
        """The table that the last run with this output has written, as an input of another run."""
        made = super().as_input(name)
        return DatasetConsumptionConfig(made.name, self, DIRECT)

    def written_by(self) -> TabularDataset:  # type: ignore[override]
        from runyard.sdk.tables.tabular_dataset import TabularDataset

        files = super().written_by()
        return TabularDataset(self.as_output().dataset(self._submitted[-1][1]), files._workspace)

    def table(self) -> Mapping[str, Any]:
        return self._table

    def _with(self, step: Mapping[str, Any]) -> OutputTabularDatasetConfig:
        return self._changed(_table={**self._table, "steps": [*self._table["steps"], dict(step)]})


def delimited(
    files: OutputFileDatasetConfig,
    include_path: bool,
    separator: str,
    header: bool | PromoteHeadersBehavior | str,
    partition_format: str | None,
    path_glob: str | None,
    set_column_types: Mapping[str, DataType] | None,
) -> OutputTabularDatasetConfig:
    read = {
        "format": contract.DELIMITED,
        "separator": separator,
        "header": header_setting(header),
        "encoding": encoding_setting("utf8"),
        "infer": True,
        "multi_line": False,
        "empty_as_string": False,
        "types": column_types(set_column_types),
        "include_path": bool(include_path),
        "partition_format": partition_format,
    }
    return _table(files, read, path_glob)


def parquet(
    files: OutputFileDatasetConfig,
    include_path: bool,
    partition_format: str | None,
    path_glob: str | None,
    set_column_types: Mapping[str, DataType] | None,
) -> OutputTabularDatasetConfig:
    read = {
        "format": contract.PARQUET,
        "types": column_types(set_column_types),
        "include_path": bool(include_path),
        "partition_format": partition_format,
    }
    return _table(files, read, path_glob)


def _table(
    files: OutputFileDatasetConfig, read: Mapping[str, Any], path_glob: str | None
) -> OutputTabularDatasetConfig:
    table: dict[str, Any] = {"kind": datasets_contract.TABULAR, "read": dict(read), "steps": []}
    if path_glob:
        table["glob"] = str(path_glob)
    return OutputTabularDatasetConfig(_files=files, _table=table)


def _names(columns: Sequence[str] | str) -> list[str]:
    return [columns] if isinstance(columns, str) else [str(each) for each in columns]
