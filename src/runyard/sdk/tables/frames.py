"""DataFrames into datastores: `register_pandas_dataframe` and its kin. A registered frame is a Parquet file."""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path
from typing import Any, Mapping

from runyard.sdk.data.datapath import DataPath
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.tables.problem import needs
from runyard.sdk.tables.tabular_dataset import TabularDataset

FOLDER = "managed-dataset"
FILE = "dataframe.parquet"


def target_of(target: Any) -> tuple[Any, str]:
    """The datastore and the path that a target names: a datastore, a DataPath, or (datastore, path)."""
    if isinstance(target, DataPath) and target.datastore is not None:
        return target.datastore, target.path_on_datastore or FOLDER
    if isinstance(target, tuple) and len(target) == 2 and isinstance(target[1], str) and hasattr(target[0], "upload"):
        return target[0], target[1].strip("/") or FOLDER
    if hasattr(target, "upload") and hasattr(target, "name"):
        return target, FOLDER
    raise ValueError(
        f"A target is a datastore that can be written to, (datastore, 'path') or a DataPath, not {target!r}."
    )


def register_frame(
    dataframe: Any,
    target: Any,
    name: str,
    description: str | None,
    tags: Mapping[str, str] | None,
    show_progress: bool,
    row_group_size: int | None,
    make_target_path_unique: bool,
) -> TabularDataset:
    """Write a frame of pandas to a datastore, and register a new version of a dataset of it."""
    from runyard.sdk.tables.tabular_factory import TabularDatasetFactory

    try:
        import pandas
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise needs("pandas pyarrow", "Registering a DataFrame") from None
    if not isinstance(dataframe, pandas.DataFrame):
        raise ValueError(f"What is registered is a pandas DataFrame, not a {type(dataframe).__name__}.")
    if not isinstance(name, str) or not name:
        raise ValueError(f"A dataset is registered under a name, which is a text, not {name!r}.")
    store, path = target_of(target)
    path = f"{path}/{uuid.uuid4()}" if make_target_path_unique else path
    try:
        table = pyarrow.Table.from_pandas(dataframe, preserve_index=False).replace_schema_metadata(None)
    except (pyarrow.ArrowException, ValueError, TypeError) as error:
        raise UserErrorException(f"The DataFrame cannot be written to Parquet: {error}") from None
    nested = [field.name for field in table.schema if pyarrow.types.is_nested(field.type)]
    if nested:
        raise UserErrorException(f"The column {nested[0]!r} holds lists or objects, which a table cannot have.")
    with tempfile.TemporaryDirectory() as folder:
        parquet.write_table(table, str(Path(folder) / FILE), row_group_size=row_group_size)
        if show_progress:
            print(f"Writing {table.num_rows:,} rows to {path}/{FILE} in {store.name}.")
        store.upload(src_dir=folder, target_path=path, overwrite=True, show_progress=False)
    made = TabularDatasetFactory.from_parquet_files((store, f"{path}/{FILE}"), validate=False)
    registered = made.register(store.workspace, name, description, tags, create_new_version=True)
    if show_progress:
        print(f"Registered {registered.name}, version {registered.version}.")
    return registered
