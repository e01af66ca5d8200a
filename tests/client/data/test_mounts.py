"""Mounted folders are read-only, list fast, and never outlive whoever mounted them. They need FUSE."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.fuse import needs_fuse
from tests.support.web_files import WebFiles, web_files

import runyard
from runyard.client.data import mounts
from runyard.client.data.mounts import Mounted, NotMounted, mount
from runyard.system.processes import alive

SDK = Path(runyard.__file__).parent.parent
BODY = os.urandom(1000)


@pytest.fixture
def web() -> Iterator[WebFiles]:
    with web_files(a=BODY) as served:
        served.etags["a"] = '"1"'
        yield served


def entry(web: WebFiles, at: str = "/a", **more: Any) -> dict[str, Any]:
    url = f"{web.url}/a"
    facts = {"path": at, "source": url, "url": url, "size": 1000, "etag": '"1"', "modified": None, "local": None}
    return {**facts, "at": at, **more}


def mounted(tmp_path: Path, files: list[dict[str, Any]]) -> Mounted:
    place = tmp_path / "a place"
    place.mkdir(exist_ok=True)
    return mount(place, files, tmp_path / "cache", SDK, [sys.executable])


def is_mounted(place: Path) -> bool:
    return any(each == str(place) for _, each in mounts._mounts())


@needs_fuse
def test_it_is_read_and_not_written(web: WebFiles, tmp_path: Path) -> None:
    found = mounted(tmp_path, [entry(web), entry(web, "/sub/b", modified="2020-01-01T00:00:00.000000Z")])
    try:
        assert sorted(os.listdir(found.place)) == ["a", "sub"]
        assert (found.place / "sub" / "b").read_bytes() == BODY
        assert (found.place / "a").stat().st_size == 1000
        assert (found.place / "sub" / "b").stat().st_mtime == 1577836800
        assert not (found.place / "none").exists()
        for name in ("new", "a"):
            with pytest.raises(OSError, match="Read-only file system"):
                (found.place / name).write_text("x")
        web.refused["a"] = 404
        assert (found.place / "a").read_bytes() == BODY, "the kernel and the cache have it"
    finally:
        found.end()
    assert not is_mounted(found.place)
    assert not found.lives
    found.end()


@needs_fuse
def test_a_hundred_thousand_files_are_listed(web: WebFiles, tmp_path: Path) -> None:
    found = mounted(tmp_path, [entry(web, f"/{number % 100}/{number}") for number in range(100_000)])
    try:
        begin = time.monotonic()
        assert sum(len(names) for _, _, names in os.walk(found.place)) == 100_000
        print(f"listed in {time.monotonic() - begin:.1f} s")
    finally:
        found.end()


@needs_fuse
def test_a_killed_process_is_noticed_and_leaves_nothing(web: WebFiles, tmp_path: Path) -> None:
    found = mounted(tmp_path, [entry(web)])
    os.kill(found.pid, signal.SIGKILL)
    while found.lives:
        time.sleep(0.01)
    with pytest.raises(OSError, match=r"not connected|Input/output|connection abort"):
        os.listdir(found.place)
    assert str(found.place) in mounts.detach_dead()
    assert not is_mounted(found.place)
    assert os.listdir(found.place) == []
    found.end()


@needs_fuse
def test_it_goes_with_who_asked_for_it(web: WebFiles, tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom tests.client.data.test_mounts import mounted\n"
        f"found = mounted(Path({str(tmp_path)!r}), [{entry(web)!r}])\nprint(found.pid, flush=True)\ntime.sleep(60)\n"
    )
    root = str(Path(__file__).parents[3])
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=root)
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    assert is_mounted(tmp_path / "a place")
    owner.kill()
    owner.wait()
    owner.stdout.close()
    assert mounts.detach_below(tmp_path) == [], "it saw by itself that it is alone"
    deadline = time.monotonic() + 20
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(pid)


def test_where_it_cannot_be_had_the_reason_is_said(
    web: WebFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.path.exists(mounts.DEVICE):
        with pytest.raises(NotMounted, match="mfusepy"):
            mount(tmp_path, [entry(web)], tmp_path, SDK, ["/nowhere/python"])
    monkeypatch.setattr(mounts, "DEVICE", "/dev/nothing")
    with pytest.raises(NotMounted, match="no /dev/nothing"):
        mounted(tmp_path, [entry(web)])
    assert not list(tmp_path.glob(".*.order")), "the order, which may hold a token, is gone"
