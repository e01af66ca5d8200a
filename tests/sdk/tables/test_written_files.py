"""A table as files: downloaded, mounted, and in the default datastore once a run or a name needs them."""

from __future__ import annotations

from pathlib import Path

from tests.support.web_files import web_files

from azureml.core import Dataset
from runyard.sdk.workspace.workspace import Workspace


def test_files_of_a_table(workspace: Workspace, tmp_path: Path) -> None:
    with web_files(**{"a.csv": b"a,b\n1,x\n2,\n"}) as web:
        dataset = Dataset.Tabular.from_delimited_files(f"{web.url}/a.csv")
        files = dataset.filter(dataset["a"] > 1).to_csv_files()
        assert files.to_path() == ["/part-0.csv"]
        assert Path(files.download(str(tmp_path / "here"))[0]).read_text() == "a,b\n2,\n"
        with files.mount() as mounted:
            assert [path.name for path in Path(mounted.mount_point).iterdir()] == ["part-0.csv"]
        assert dataset.to_parquet_files().to_path() == ["/part-0.parquet"]
        assert "WriteDelimited" in repr(files)
        saved = files.register(workspace, "written", create_new_version=True)
        found = Dataset.get_by_name(workspace, "written")
        assert found.id == saved.id
        assert Path(found.download(str(tmp_path / "there"))[0]).read_text() == "a,b\n2,\n"
        assert files.as_mount().mode == "mount"
        assert len(dataset.to_csv_files(";").take(1).to_path()) == 1
