"""The members that `Dataset` had before it had kinds. SDK v1 itself has deprecated them since 2019: what has a
successor goes there, and the rest is refused with its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace


def _refused(name: str, instead: str) -> UserErrorException:
    return UserErrorException(f"Dataset.{name} belongs to the first datasets of SDK v1, which Runyard lacks. {instead}")


class OldDataset:
    """What `Dataset` inherits."""

    class Scenario:
        """What a snapshot was for."""

        TRAINING = "training"
        VALIDATION = "validation"
        INFERENCING = "inferencing"

    def __init__(
        self, definition: Any, workspace: Workspace | None = None, name: str | None = None, id: str | None = None
    ) -> None:
        raise _refused(
            "(...)", "Use Dataset.File.from_files, Dataset.Tabular.from_delimited_files, and their siblings."
        )

    # -- what has a successor -----------------------------------------------------------------------------------------

    @staticmethod
    def get(workspace: Workspace, name: str | None = None, id: str | None = None) -> Any:
        """A registered dataset by its name, or a saved one by its id."""
        from runyard.sdk.data.abstract_dataset import AbstractDataset

        if (name is None) == (id is None):
            raise UserErrorException("Give the name of a dataset, or its id, and not both.")
        if name is not None:
            return AbstractDataset.get_by_name(workspace, name)
        return AbstractDataset.get_by_id(workspace, str(id))

    @staticmethod
    def list(workspace: Workspace) -> Any:
        """The registered datasets, each in its latest version."""
        from runyard.sdk.data.abstract_dataset import AbstractDataset

        return [*AbstractDataset.get_all(workspace).values()]

    @staticmethod
    def from_delimited_files(
        path: Any,
        separator: str = ",",
        header: Any = None,
        encoding: Any = None,
        quoting: bool = False,
        infer_column_types: bool = True,
        skip_rows: int = 0,
        skip_mode: Any = None,
        comment: str | None = None,
        include_path: bool = False,
        archive_options: Any = None,
        partition_format: str | None = None,
    ) -> Any:
        """`Dataset.Tabular.from_delimited_files`; what that has no argument for is refused."""
        if skip_rows or comment is not None or archive_options is not None:
            raise _refused("from_delimited_files(skip_rows, comment, archive_options)", "Leave those arguments out.")
        given = {"header": header, "encoding": encoding}
        return _tabular().from_delimited_files(
            path,
            separator=separator,
            infer_column_types=infer_column_types,
            include_path=include_path,
            partition_format=partition_format,
            support_multi_line=quoting,
            **{key: value for key, value in given.items() if value is not None},
        )

    @staticmethod
    def from_parquet_files(path: Any, include_path: bool = False, partition_format: str | None = None) -> Any:
        """`Dataset.Tabular.from_parquet_files`."""
        return _tabular().from_parquet_files(path, include_path=include_path, partition_format=partition_format)

    @staticmethod
    def from_json_files(
        path: Any,
        encoding: Any = None,
        flatten_nested_arrays: bool = False,
        include_path: bool = False,
        partition_format: str | None = None,
    ) -> Any:
        """`Dataset.Tabular.from_json_lines_files`."""
        if flatten_nested_arrays:
            raise _refused("from_json_files(flatten_nested_arrays)", "Flatten them with pandas.")
        return _tabular().from_json_lines_files(path, include_path=include_path, partition_format=partition_format)

    @staticmethod
    def from_sql_query(data_source: Any, query: Any) -> Any:
        """`Dataset.Tabular.from_sql_query`."""
        return _tabular().from_sql_query((data_source, query))

    @staticmethod
    def from_binary_files(path: Any) -> Any:
        """`Dataset.File.from_files`."""
        from runyard.sdk.data.dataset_factory import FileDatasetFactory

        return FileDatasetFactory.from_files(path)

    @staticmethod
    def auto_read_files(path: Any, include_path: bool = False, partition_format: str | None = None) -> Any:
        """By what the paths end with: Parquet, JSON lines, or delimited files."""
        first = str(path).lower()
        if ".parquet" in first:
            return OldDataset.from_parquet_files(path, include_path, partition_format)
        if ".json" in first:
            return OldDataset.from_json_files(path, include_path=include_path, partition_format=partition_format)
        return OldDataset.from_delimited_files(path, include_path=include_path, partition_format=partition_format)

    # -- what has none ------------------------------------------------------------------------------------------------

    @staticmethod
    def from_pandas_dataframe(dataframe: Any, path: Any = None, in_memory: bool = False) -> NoReturn:
        raise _refused(
            "from_pandas_dataframe", "Use Dataset.Tabular.register_pandas_dataframe(dataframe, target, name)."
        )

    @staticmethod
    def from_excel_files(
        path: Any,
        sheet_name: str | None = None,
        use_column_headers: bool = False,
        skip_rows: int = 0,
        include_path: bool = False,
        infer_column_types: bool = True,
        partition_format: str | None = None,
    ) -> NoReturn:
        raise _refused("from_excel_files", "Save the sheet as CSV, or read it with pandas.")

    @property
    def name(self) -> str | None:
        raise _refused("name", _MADE)

    @property
    def workspace(self) -> Any:
        raise _refused("workspace", _MADE)

    @property
    def id(self) -> str | None:
        raise _refused("id", _MADE)

    @property
    def definition_version(self) -> str | None:
        raise _refused("definition_version", _MADE)

    @property
    def definition(self) -> Any:
        raise _refused("definition", _MADE)

    @property
    def is_visible(self) -> bool:
        raise _refused("is_visible", _MADE)

    @property
    def tags(self) -> Any:
        raise _refused("tags", _MADE)

    @property
    def description(self) -> str | None:
        raise _refused("description", _MADE)

    @property
    def state(self) -> str:
        raise _refused("state", _MADE)

    def get_definitions(self) -> NoReturn:
        raise _refused("get_definitions", _VERSIONS)

    def get_definition(self, version_id: str | None = None) -> NoReturn:
        raise _refused("get_definition", _VERSIONS)

    def register(
        self,
        workspace: Any,
        name: str,
        description: str | None = None,
        tags: Any = None,
        visible: bool = True,
        exist_ok: bool = False,
        update_if_exist: bool = False,
    ) -> NoReturn:
        raise _refused("register", _MADE)

    def update(
        self, name: str | None = None, description: str | None = None, tags: Any = None, visible: bool | None = None
    ) -> NoReturn:
        raise _refused("update", _MADE)

    def update_definition(self, definition: Any, definition_update_message: str) -> NoReturn:
        raise _refused("update_definition", _VERSIONS)

    def to_pandas_dataframe(self) -> NoReturn:
        raise _refused("to_pandas_dataframe", _MADE)

    def to_spark_dataframe(self) -> NoReturn:
        raise _refused("to_spark_dataframe", _MADE)

    def head(self, count: int) -> NoReturn:
        raise _refused("head", "Use dataset.take(count).to_pandas_dataframe().")

    def create_snapshot(
        self,
        snapshot_name: str,
        compute_target: Any = None,
        create_data_snapshot: bool = False,
        target_datastore: Any = None,
    ) -> NoReturn:
        raise _refused("create_snapshot", _VERSIONS)

    def get_snapshot(self, snapshot_name: str) -> NoReturn:
        raise _refused("get_snapshot", _VERSIONS)

    def delete_snapshot(self, snapshot_name: str) -> NoReturn:
        raise _refused("delete_snapshot", _VERSIONS)

    def get_all_snapshots(self) -> NoReturn:
        raise _refused("get_all_snapshots", _VERSIONS)

    def generate_profile(self, compute_target: Any = None, workspace: Any = None, arguments: Any = None) -> NoReturn:
        raise _refused("generate_profile", _PROFILE)

    def get_profile(
        self,
        arguments: Any = None,
        generate_if_not_exist: bool = True,
        workspace: Any = None,
        compute_target: Any = None,
    ) -> NoReturn:
        raise _refused("get_profile", _PROFILE)

    def deprecate(self, deprecate_by_dataset_id: str) -> NoReturn:
        raise _refused("deprecate", "Register a new version, and say so in its description.")

    def archive(self) -> NoReturn:
        raise _refused("archive", "dataset.unregister_all_versions() takes the name away.")

    def reactivate(self) -> NoReturn:
        raise _refused("reactivate", "Register the dataset again.")

    def compare_profiles(
        self,
        rhs_dataset: Any,
        profile_arguments: Any = None,
        include_columns: Any = None,
        exclude_columns: Any = None,
        histogram_compare_method: Any = None,
    ) -> NoReturn:
        raise _refused("compare_profiles", _PROFILE)

    def diff(self, rhs_dataset: Any, compute_target: Any = None, columns: Any = None) -> NoReturn:
        raise _refused("diff", "Compare what to_pandas_dataframe() gives.")

    def sample(self, sample_strategy: str, arguments: Any) -> NoReturn:
        raise _refused("sample", "Use dataset.take_sample(probability, seed).")


_MADE = "Make one with Dataset.File or Dataset.Tabular: those have it."
_VERSIONS = "dataset.register(ws, name, create_new_version=True) keeps versions."
_PROFILE = "Use dataset.to_pandas_dataframe().describe()."


def _tabular() -> Any:
    from runyard.sdk.data.dataset import Dataset

    return Dataset.Tabular
