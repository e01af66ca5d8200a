"""Files of a dataset on the user's machine: looked at, copied and mounted, with the layout of SDK v1."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from tests.support.web_files import web_files

from runyard.sdk.data.dataset import Dataset
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.progress import WORTH_SHOWING
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


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_long_download_on_a_terminal_has_a_bar(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with web_files(large=bytes(WORTH_SHOWING), small=b"1") as web:
        for name, has_one in (("large", True), ("small", False)):
            monkeypatch.setattr(sys, "stderr", terminal := Terminal())
            Dataset.File.from_files(f"{web.url}/{name}").download(str(tmp_path / name))
            assert ("a dataset" in terminal.getvalue()) is has_one


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


def test_filters_and_partitions(workspace: Workspace, tmp_path: Path) -> None:
    """The server leaves files out by their paths and sizes, in a listing of many pages too."""
    from runyard.sdk.datastore.datastore import Datastore

    for region in ("north", "south"):
        for year in (2019, 2020):
            place = tmp_path / "sales" / region / str(year)
            place.mkdir(parents=True)
            (place / "a.csv").write_text("1")
            (place / "b.csv").write_text("22" * year)
    store = Datastore.register_folder(workspace, "sales", str(tmp_path))
    all = Dataset.File.from_files((store, "sales/**"), partition_format="/sales/{region}/{year:yyyy}/*.csv")
    assert all.partition_keys == ["region", "year"]
    assert {each["region"] for each in all.get_partition_key_values(["region"])} == {"north", "south"}
    assert len(all.get_partition_key_values()) == 4
    north = all.filter(all["region"] == "north")
    assert north.to_path() == ["/north/2019/a.csv", "/north/2019/b.csv", "/north/2020/a.csv", "/north/2020/b.csv"]
    small = north.filter(all.file_metadata("Size") < 10).filter(~all["Path"].contains("2019"))
    assert small.to_path() == ["/north/2020/a.csv"]
    again = small.register(workspace, "small-sales")
    assert Dataset.get_by_name(workspace, "small-sales").to_path() == again.to_path()
    assert '"Filter"' in repr(again)
    with pytest.raises(UserErrorException, match="no 'county'"):
        all.filter(all["county"] == "x")
    with pytest.raises(UserErrorException, match="CreationTime"):
        all.file_metadata("CreationTime")
    with pytest.raises(UserErrorException, match="is no condition"):
        all.filter(True)  # type: ignore[arg-type]
    with pytest.raises(UserErrorException, match="no column"):
        Dataset.File.from_files((store, "**"), partition_format="/*.csv")
