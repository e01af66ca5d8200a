"""Files that are read lazily give the right bytes, whatever the order, and only what is read is fetched."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.support.web_files import WebFiles, web_files

from runyard.client.data import lazy, transfer
from runyard.client.data.cache import Cache
from runyard.client.data.lazy import LazyFiles

BODY = random.Random(2).randbytes(1000)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "PIECE", 100)
    monkeypatch.setattr(lazy, "PIECE", 100)
    monkeypatch.setattr(lazy, "AHEAD", 2)


@pytest.fixture
def web() -> Iterator[WebFiles]:
    with web_files(a=BODY) as served:
        served.etags["a"] = '"1"'
        yield served


def entry(web: WebFiles, **more: Any) -> dict[str, Any]:
    url = f"{web.url}/a"
    facts = {"path": "/a", "source": url, "url": url, "size": 1000, "etag": '"1"', "modified": None, "local": None}
    return {**facts, **more}


def opened(cache: Cache, each: dict[str, Any], said: list[str] | None = None) -> LazyFiles:
    return LazyFiles([each], cache.lease(), (said if said is not None else []).append)


def test_bytes_come_from_wherever_they_are_asked_for(web: WebFiles, tmp_path: Path) -> None:
    files = opened(Cache(tmp_path), entry(web))
    file = files.files[0]
    assert files.read(file, 555, 5) == BODY[555:560]
    assert [each[2] for each in web.requests] == ["bytes=500-599"], "nothing else was fetched"
    assert files.read(file, 950, 500) == BODY[950:]
    assert files.read(file, 1000, 10) == b""
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda begin: files.read(file, begin, 7), range(0, 1000, 7)))
    assert b"".join(got) == BODY
    files.close_file(file)
    assert files.read(file, 0, 1000) == BODY, "a file may be opened again"
    asked = [each[2] for each in web.requests]
    assert len(asked) == len(set(asked)), "each range was fetched once"
    files.close()


def test_another_mount_and_a_download_take_what_is_there(web: WebFiles, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    first = opened(cache, entry(web))
    assert first.read(first.files[0], 0, 1000) == BODY
    web.requests.clear()
    second = opened(cache, entry(web))
    assert second.read(second.files[0], 300, 400) == BODY[300:700]
    assert web.requests == []
    assert [(each.whole, each.stored, each.used) for each in cache.entries()] == [(False, 1000, True)]
    for files in (first, second):
        files.close_file(files.files[0])
        files.close()
        files._lease.release()
    assert len(cache.collect(limit=0)) == 1
    assert not any(path.is_dir() for path in tmp_path.glob("??/*"))


def test_a_server_without_ranges_gives_all_of_it_once(web: WebFiles, tmp_path: Path) -> None:
    web.no_ranges = True
    files = opened(Cache(tmp_path), entry(web))
    assert files.read(files.files[0], 150, 300) == BODY[150:450]
    assert files.read(files.files[0], 0, 1000) == BODY
    files.close()


def test_what_cannot_be_read_is_said_and_may_come_later(web: WebFiles, tmp_path: Path) -> None:
    said: list[str] = []
    files = opened(Cache(tmp_path), entry(web), said)
    web.refused["a"] = 404
    with pytest.raises(Exception, match="404"):
        files.read(files.files[0], 0, 10)
    assert "404" in said[0]
    web.refused.clear()
    assert files.read(files.files[0], 0, 10) == BODY[:10]
    files.close()


def test_what_lies_here_is_read_in_place(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_bytes(BODY)
    status = there.stat()
    etag = f'"{status.st_size:x}-{status.st_mtime_ns:x}"'
    each = {"path": "/a", "source": "s", "url": None, "local": str(there), "size": status.st_size, "etag": etag}
    files = opened(Cache(tmp_path / "cache"), {**each, "modified": None})
    assert files.read(files.files[0], 10, 10) == BODY[10:20]
    files.close_file(files.files[0])
    files.close()
    assert threading.active_count() < 100
