"""Files of a table: fetched once per process, and called by their address or their path in the datastore."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.web_files import web_files

from runyard.contracts.data.datasets import Definition, Source
from runyard.sdk.data.dataset import Dataset
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.tables.files import shown_path
from runyard.sdk.workspace.workspace import Workspace


@pytest.mark.parametrize(
    ("sources", "path", "shown"),
    [
        (["d/a.csv"], "/a.csv", "/d/a.csv"),
        (["a.csv"], "/a.csv", "/a.csv"),
        (["d"], "/sub/a.csv", "/d/sub/a.csv"),
        (["d/*/a.csv"], "/x/a.csv", "/d/x/a.csv"),
        (["d", "e"], "/store/d/a.csv", "/d/a.csv"),
    ],
)
def test_paths_in_a_datastore_are_whole(sources: list[str], path: str, shown: str) -> None:
    definition = Definition("tabular", tuple(Source(datastore="store", path=each) for each in sources))
    assert shown_path(definition, {"source": "", "path": path}) == shown


def test_a_file_is_fetched_once_and_again_when_it_changes(workspace: Workspace) -> None:
    with web_files(**{"a.csv": b"a\n1\n"}) as web:
        dataset: Any = Dataset.Tabular.from_delimited_files(f"{web.url}/a.csv", include_path=True)
        for _ in range(2):
            assert dataset.to_pandas_dataframe().values.tolist() == [[f"{web.url}/a.csv", 1]]
        assert [method for method, _, _ in web.requests].count("GET") == 1
        web.files["a.csv"] = b"a\n2\n3\n"
        assert dataset.to_pandas_dataframe()["a"].tolist() == [2, 3]
        web.refused["a.csv"] = 404
        with pytest.raises(UserErrorException, match="runyard data map"):
            dataset.to_pandas_dataframe()
