"""Tables as users have them: registered, found again in the right class, filtered by time, refused in words."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.support.web_files import web_files

from azureml.core import Dataset
from azureml.data import FileDataset, TabularDataset
from azureml.exceptions import AzureMLException, DatasetTimestampMissingError, UserErrorException
from runyard.sdk.tables.problem import DatasetValidationError
from runyard.sdk.workspace.workspace import Workspace

CONTENT = b"""id,name,day,part
1,a,2020-01-01,2020-01-01
2,b,2020-01-02T12:00:00,2020-01-02
3,,,
4,d,2020-01-04,2020-01-04
"""


@pytest.fixture
def dataset(workspace: Workspace) -> Iterator[TabularDataset]:
    with web_files(**{"a.csv": CONTENT}) as web:
        yield Dataset.Tabular.from_delimited_files(f"{web.url}/a.csv")


def ids(dataset: Any) -> list[int]:
    found = dataset.to_pandas_dataframe()
    return found["id"].tolist() if len(found) else []


def test_a_notebook_shows_columns_and_types(dataset: TabularDataset) -> None:
    html = dataset.take(1)._repr_html_()
    for name in ("id", "name", "day", "part"):
        assert f"<tr><td>{name}</td><td>" in html
    assert "SetColumnTypes → Take" in html


def test_registered_tables_are_found_as_tables(workspace: Workspace, dataset: TabularDataset) -> None:
    made = dataset.filter(dataset["id"] > 1).register(workspace, "people", create_new_version=True)
    for found in (
        workspace.datasets["people"],
        Dataset.get_by_name(workspace, "people"),
        Dataset.get_by_id(workspace, str(made.id)),
    ):
        assert isinstance(found, TabularDataset)
        assert ids(found) == ids(found.take(9)) == [2, 3, 4]
    again = dataset.register(workspace, "people", create_new_version=True)
    assert again.version == (made.version or 0) + 1
    assert '"ParseDelimited"' in repr(made)
    files = Dataset.File.from_files(dataset._definition["sources"][0]["url"]).register(
        workspace, "f", create_new_version=True
    )
    assert isinstance(workspace.datasets[str(files.name)], FileDataset)


def test_steps_give_new_tables(dataset: TabularDataset) -> None:
    assert ids(dataset.take(2)) == [1, 2]
    assert ids(dataset.skip(3)) == [4]
    one, other = dataset.random_split(0.5, seed=2)
    assert sorted(ids(one) + ids(other)) == [1, 2, 3, 4]
    sample = dataset.take_sample(0.5)
    assert ids(sample) == ids(sample)
    assert list(dataset.keep_columns(["name", "id"]).to_pandas_dataframe().columns) == ["id", "name"]
    assert list(dataset.drop_columns("name").to_pandas_dataframe().columns) == ["id", "day", "part"]
    assert ids(dataset.filter(dataset["name"].is_null() | (dataset["day"] < datetime(2020, 1, 2)))) == [1, 3]
    assert ids(dataset) == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="from 0 on"):
        dataset.take(-1)
    with pytest.raises(DatasetValidationError, match=r"no column 'x'\. It has: id, name"):
        dataset.keep_columns(["x"], validate=True)
    with pytest.raises(UserErrorException, match="none of the columns"):
        dataset.keep_columns(["x"]).to_pandas_dataframe()
    with pytest.raises(UserErrorException, match="list of texts"):
        dataset.drop_columns([])
    with pytest.raises(UserErrorException, match="such as dataset"):
        dataset.filter("id > 3")


def test_times(dataset: TabularDataset) -> None:
    timed = dataset.with_timestamp_columns("day")
    assert timed.timestamp_columns == ("day", None)
    noon = datetime(2020, 1, 2, 12)
    assert ids(timed.time_after(noon)) == [2, 4]
    assert ids(timed.time_after(noon, include_boundary=False)) == [4]
    assert ids(timed.time_before(noon)) == [1, 2]
    assert ids(timed.time_between(datetime(2020, 1, 2), datetime(2020, 1, 3))) == [2]
    assert ids(timed.time_before(noon - timedelta(microseconds=400_000))) == [1, 2]
    assert ids(timed.time_before(noon - timedelta(microseconds=600_000))) == [1]
    assert ids(timed.time_recent(timedelta(days=36500))) == [1, 2, 4]
    found = timed.take(1).to_pandas_dataframe()
    assert (str(found.index[0]), found.index.name, "day" in found) == ("2020-01-01 00:00:00", None, True)
    both = dataset.with_timestamp_columns("day", "part")
    assert ids(both.time_after(noon)) == [4]
    assert both.drop_columns("part").timestamp_columns == ("day", None)
    assert both.drop_columns("day").timestamp_columns == (None, None)
    assert both.keep_columns(["id"]).timestamp_columns == (None, None)
    assert both.with_timestamp_columns().timestamp_columns == (None, None)


def test_times_that_cannot_be(dataset: TabularDataset) -> None:
    with pytest.raises(DatasetTimestampMissingError):
        dataset.time_after(datetime(2020, 1, 1))
    with pytest.raises(DatasetValidationError, match="holds no times"):
        dataset.with_timestamp_columns("name").time_after(datetime(2020, 1, 1))
    with pytest.raises(DatasetValidationError, match="no column 'x'"):
        dataset.with_timestamp_columns("x").time_after(datetime(2020, 1, 1))
    timed = dataset.with_timestamp_columns("day")
    for wrong in (datetime(2020, 1, 1, tzinfo=timezone.utc), "2020-01-01"):
        with pytest.raises(TypeError):
            timed.time_after(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        timed.time_recent(3)  # type: ignore[arg-type]
    wrong_names: list[dict[str, Any]] = [
        {"partition_timestamp": "day"},
        {"timestamp": "day", "partition_timestamp": "day"},
        {"timestamp": "day", "fine_grain_timestamp": "day"},
    ]
    for names in wrong_names:
        with pytest.raises(UserErrorException):
            dataset.with_timestamp_columns(**names)
    assert dataset.with_timestamp_columns(fine_grain_timestamp="day").timestamp_columns == ("day", None)
    with pytest.raises(DatasetValidationError):
        dataset.with_timestamp_columns(fine_grain_timestamp="x", validate=True)
    with pytest.raises(TypeError, match="'other'"):
        dataset.with_timestamp_columns(other="x")


def test_what_a_table_cannot_be(dataset: TabularDataset) -> None:
    with pytest.raises(UserErrorException, match="to_pandas_dataframe"):
        dataset.as_named_input("x").as_mount()
    assert not hasattr(dataset, "as_mount")
    for refused in (dataset.to_dask_dataframe, dataset.to_spark_dataframe):
        with pytest.raises(AzureMLException, match="pip install"):
            refused()
    for stream in (dataset.download, dataset.mount):
        with pytest.raises(UserErrorException, match="holds no files"):
            stream("name")


def test_importing_loads_nothing_that_may_be_missing() -> None:
    code = (
        "import sys; from azureml.core import Dataset; from azureml.data import TabularDataset; Dataset.Tabular; "
        "print([name for name in ('pandas', 'pyarrow', 'numpy') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
