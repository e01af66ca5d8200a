"""DataFrames into datastores: registered as new versions, and read back as they were."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from tests.support.tables import pandas

from azureml.core import Dataset
from azureml.data.datapath import DataPath
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.tables.problem import DatasetValidationError
from runyard.sdk.workspace.workspace import Workspace

register = Dataset.Tabular.register_pandas_dataframe


def test_a_frame_is_read_back(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    store: Any = workspace.get_default_datastore()
    frame = pandas.DataFrame({"a": [1, 2, 3, 4], "s": ["x", "y", None, "x"]}, index=[9, 8, 7, 6])
    name = f"frame-{uuid.uuid4().hex[:8]}"
    made = register(frame, (store, "frames"), name)
    assert "Registered" in capsys.readouterr().out
    found = Dataset.get_by_name(workspace, name).to_pandas_dataframe()
    assert found["a"].tolist() == [1, 2, 3, 4]
    assert register(frame, store, name, show_progress=False).version == (made.version or 0) + 1
    assert register(frame, DataPath(store, "x"), name, show_progress=False).version == (made.version or 0) + 2
    parts = made.partition_by(["s"], (store, "parts"), name=f"{name}-parts", show_progress=False)
    assert parts.partition_keys == ["s"]
    assert sorted(each["s"] for each in parts.get_partition_key_values()) == ["null", "x", "y"]
    assert sorted(map(tuple, parts.to_pandas_dataframe().values.tolist())) == [
        *(("null", 3), ("x", 1), ("x", 4), ("y", 2))
    ]
    assert len(made.partition_by(["s"], store, show_progress=False, partition_as_file_dataset=True).to_path()) == 3
    for keys in ([], ["gone"], ["s", "s"]):
        with pytest.raises(UserErrorException, match="Partition keys are columns"):
            made.partition_by(keys, store)
    with pytest.raises(UserErrorException, match="Partition keys"):
        made.get_partition_key_values()


def test_what_cannot_be_registered(workspace: Workspace) -> None:
    store: Any = workspace.get_default_datastore()
    frame = pandas.DataFrame({"a": [1]})
    for wrong in (([1], store, "n"), (frame, "here", "n"), (frame, store, "")):
        with pytest.raises(ValueError, match=r"is registered|A target is"):
            register(*wrong)
    for nested in ([[1]], [{"a": 1}]):
        with pytest.raises(UserErrorException, match="lists or objects"):
            register(pandas.DataFrame({"a": nested}), store, "n", show_progress=False)
    for other in (Dataset.Tabular.register_spark_dataframe, Dataset.Tabular.register_dask_dataframe):
        with pytest.raises(ValueError, match="is registered"):
            other(object(), store, "n")
    with pytest.raises(DatasetValidationError, match="is no database"):
        Dataset.Tabular.from_sql_query((store, "SELECT 1"))
