"""Files of a dataset on the user's machine: looked at, copied and mounted, with the layout of SDK v1."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.web_files import web_files

from runyard.sdk.data.dataset import Dataset
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.workspace.workspace import Workspace


def test_download_and_mount(workspace: Workspace, tmp_path: Path) -> None:
    with web_files(a=b"1", b=b"2") as web:
        both = Dataset.File.from_files([f"{web.url}/d/a", f"{web.url}/d/b"])
        assert [path.rpartition("/")[2] for path in both.to_path()] == ["a", "b"]
        paths = both.download(str(tmp_path / "here"))
        assert [Path(path).read_bytes() for path in paths] == [b"1", b"2"]
        assert paths == [str(tmp_path / "here") + path for path in both.to_path()]
        with pytest.raises(UserErrorException, match="overwrite=True"):
            both.download(str(tmp_path / "here"))
        assert both.download(str(tmp_path / "here"), overwrite=True) == paths
        with both.mount() as mounted:
            assert sorted(each.name for each in Path(mounted.mount_point).iterdir()) == ["a", "b"]
        assert not Path(mounted.mount_point).exists()
        mounted.stop()
        with pytest.raises(UserErrorException, match="not empty"):
            both.mount(str(tmp_path)).start()
        web.refused["a"] = 404
        with pytest.raises(UserErrorException, match="runyard data map"):
            both.download()


def test_steps_give_new_datasets(workspace: Workspace) -> None:
    with web_files(**{f"f{number}": b"" for number in range(20)}) as web:
        all = Dataset.File.from_files([f"{web.url}/f{number}" for number in range(20)])
        paths = all.to_path()
        assert all.take(3).to_path() == paths[:3]
        assert all.skip(18).to_path() == paths[18:]
        first, second = all.random_split(0.5, seed=3)
        assert sorted(first.to_path() + second.to_path()) == sorted(paths)
        sample = all.take_sample(0.5)
        assert sample.to_path() == sample.to_path()
        with pytest.raises(ValueError, match="from 0 on"):
            all.take(-1)
        with pytest.raises(ValueError, match="from 0 to 1"):
            all.take_sample(2)
