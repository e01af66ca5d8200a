"""A mount in a notebook: lazy where the data is large, and gone with whoever made it, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.fuse import needs_fuse
from tests.support.web_files import WebFiles, web_files

from runyard.client.data import mounts
from runyard.contracts.data import datasets as contract
from runyard.sdk.data.dataset import Dataset
from runyard.sdk.data.file_dataset import FileDataset
from runyard.sdk.workspace.workspace import Workspace

HELD = """
import sys
from azureml.core import Dataset, Workspace
ws = Workspace.get(sys.argv[1])
context = Dataset.get_by_id(ws, sys.argv[2]).mount(sys.argv[3])
context.start()
print(sorted(__import__("os").listdir(context.mount_point)), flush=True)
sys.stdin.read(1)
"""


@pytest.fixture
def web() -> Iterator[WebFiles]:
    with web_files(a=os.urandom(20_000), b=b"2") as served:
        yield served


@pytest.fixture
def large(workspace: Workspace, web: WebFiles) -> Iterator[FileDataset]:
    """A dataset that is too large to be fetched."""
    address = f"/api/workspaces/{workspace.name}/settings/data.lazy-above"
    workspace.service.put(address, {"value": "10KB"})
    dataset = Dataset.File.from_files([f"{web.url}/a", f"{web.url}/b"])
    dataset._saved(workspace)
    yield dataset
    workspace.service.put(address, {"value": "10GB"})


def bodies(web: WebFiles) -> list[str]:
    return [path for method, path, _ in web.requests if method == "GET"]


def is_mounted(place: str | Path) -> bool:
    return any(each == str(place) for _, each in mounts._mounts())


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@needs_fuse
def test_what_is_large_comes_as_it_is_read(large: FileDataset, web: WebFiles, tmp_path: Path) -> None:
    with large.mount(str(tmp_path / "here")) as mounted:
        place = Path(mounted.mount_point)
        assert sorted(each.name for each in place.iterdir()) == ["a", "b"]
        assert bodies(web) == []
        assert is_mounted(place)
        assert (place / "a").read_bytes() == web.files["a"]
        assert bodies(web) == ["a"]
        with pytest.raises(OSError, match="Read-only"):
            (place / "new").write_text("x")
    assert not place.exists()
    assert not is_mounted(place)
    mounted.stop()
    with large.mount(str(place)) as again:
        assert (Path(again.mount_point) / "a").read_bytes() == web.files["a"]
    assert bodies(web) == ["a"], "the cache has it"


@needs_fuse
@pytest.mark.parametrize("how", ["exit", "kill"])
def test_it_goes_with_its_process(large: FileDataset, workspace: Workspace, tmp_path: Path, how: str) -> None:
    place = tmp_path / "here"
    command = [sys.executable, "-c", HELD, workspace.name, str(large.id), str(place)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"['a', 'b']\n"
        assert is_mounted(place)
        if how == "kill":
            process.send_signal(signal.SIGKILL)
        process.stdin.close()
        process.wait(60)
        wait(lambda: not is_mounted(place))
        assert place.exists() == (how == "kill")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_where_it_cannot_be_mounted_it_is_fetched_and_said(
    large: FileDataset, web: WebFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts, "DEVICE", "/dev/no-fuse")
    mounted = large.mount()
    with pytest.warns(UserWarning, match="are fetched now, not as they are read: there is no /dev/no-fuse"):
        mounted.start()
    assert sorted(bodies(web)) == ["a", "b"]
    assert (Path(mounted.mount_point) / "b").read_bytes() == b"2"
    mounted.stop()
    assert not Path(mounted.mount_point).exists()


def test_what_is_small_is_fetched(workspace: Workspace, web: WebFiles) -> None:
    dataset = Dataset.File.from_files(f"{web.url}/b")
    assert contract.parse(dataset._definition).may_be_single
    with dataset.mount() as mounted:
        assert os.path.islink(f"{mounted.mount_point}/b")
        assert not is_mounted(mounted.mount_point)
