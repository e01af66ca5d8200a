"""Making datasets: what SDK v1 takes is taken, and the rest is refused in words."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.sdk.data.data_reference import DataReference
from runyard.sdk.data.datapath import DataPath
from runyard.sdk.data.dataset_factory import FileDatasetFactory
from runyard.sdk.exceptions import UserErrorException


def test_paths_become_sources() -> None:
    paths: list[Any] = [("store", "a/*"), DataPath("store", "b"), DataReference("store", "n", "c")]
    made = FileDatasetFactory.from_files(paths)
    assert made._definition["sources"] == [{"datastore": "store", "path": path} for path in ("a/*", "b", "c")]


@pytest.mark.parametrize(
    "path",
    [
        *([], None, "local/file", "file:///x", "azureml://x", ("store", 1), ("a", "b", "c"), "store://x"),
        ["http://h/a", ("store", "b")],
    ],
)
def test_other_paths_are_refused(path: Any) -> None:
    with pytest.raises(UserErrorException):
        FileDatasetFactory.from_files(path)


def test_a_partition_format_is_part_of_the_definition() -> None:
    made = FileDatasetFactory.from_files("http://h/north/a", partition_format="/{region}/*")
    assert made._definition["partition_format"] == "/{region}/*"
    with pytest.raises(UserErrorException, match="partition_format"):
        FileDatasetFactory.from_files("http://h/a", partition_format="/{x/")
