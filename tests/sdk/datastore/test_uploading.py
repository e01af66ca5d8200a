"""A folder becomes a dataset in one call."""

from __future__ import annotations

from pathlib import Path

import pytest

from azureml.core import Dataset, Workspace
from runyard.sdk.data.datapath import DataPath


def test_a_folder_is_uploaded_and_is_a_dataset(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "data"
    (source / "sub").mkdir(parents=True)
    for name in ("a.csv", "sub/b.csv", "c.txt"):
        (source / name).write_text(name)
    store = workspace.get_default_datastore()
    made = Dataset.File.upload_directory(str(source), (store, "directory/one"), overwrite=True)
    assert made.to_path() == ["/a.csv", "/c.txt", "/sub/b.csv"]
    chosen = Dataset.File.upload_directory(str(source), DataPath(store, "directory/two"), "*.csv", show_progress=False)
    assert chosen.to_path() == ["/a.csv", "/sub/b.csv"]
    for target in ("directory", None, (store,), ("workspaceblobstore", "x")):
        with pytest.raises(ValueError, match="no place to upload"):
            Dataset.File.upload_directory(str(source), target)
