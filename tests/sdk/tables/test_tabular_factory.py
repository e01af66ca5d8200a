"""Making tables: checks at the call, as SDK v1 has them, with what to do in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.web_files import WebFiles, web_files

from azureml.data.dataset_factory import DataType, TabularDatasetFactory
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.tables.problem import DatasetValidationError
from runyard.sdk.workspace.workspace import Workspace

make = TabularDatasetFactory.from_delimited_files


@pytest.fixture
def web(workspace: Workspace) -> Iterator[WebFiles]:
    with web_files(**{"a.csv": b"a,when\n1,2.1.2020\n", "empty.csv": b"", "header.csv": b"a,b\n"}) as served:
        yield served


@pytest.mark.parametrize("name", ["empty.csv", "header.csv", "gone.csv"])
@pytest.mark.parametrize("options", [{}, {"validate": False}, {"infer_column_types": False}])
def test_a_table_without_rows_is_refused_at_once(web: WebFiles, name: str, options: dict[str, Any]) -> None:
    with pytest.raises(DatasetValidationError, match=r"no rows|does not give its file"):
        make(f"{web.url}/{name}", **options)


def test_nothing_is_read_when_nothing_is_to_be_known(web: WebFiles) -> None:
    make(f"{web.url}/gone.csv", validate=False, infer_column_types=False)
    TabularDatasetFactory.from_parquet_files(f"{web.url}/gone.parquet", validate=False)
    TabularDatasetFactory.from_json_lines_files(f"{web.url}/gone.json", validate=False)
    assert web.requests == []


def test_types(web: WebFiles) -> None:
    url = f"{web.url}/a.csv"
    assert make(url)._definition["read"]["inferred"] == {"a": {"type": "int"}, "when": {"type": "string"}}
    set_types = {"a": DataType.to_string(), "when": DataType.to_datetime("%d.%m.%Y"), "gone": DataType.to_long()}
    found = make(url, set_column_types=set_types).to_pandas_dataframe()
    assert (found["a"][0], str(found["when"][0])) == ("1", "2020-01-02 00:00:00")
    with pytest.raises(UserErrorException, match="cannot be worked out"):
        make(url, set_column_types={"when": DataType.to_datetime()})


def test_settings_that_are_none(web: WebFiles) -> None:
    url = f"{web.url}/a.csv"
    with pytest.raises(ValueError, match="one character"):
        make(url, separator="::")
    with pytest.raises(UserErrorException, match="no year"):
        make(url, partition_format="/{a:MM}/")
    with pytest.raises(UserErrorException, match="'drop'"):
        TabularDatasetFactory.from_json_lines_files(url, invalid_lines="skip")
    with pytest.raises(UserErrorException, match="local path"):
        make("here.csv")
    with pytest.raises(UserErrorException, match="'separator'"):
        make(url, separator='"')
