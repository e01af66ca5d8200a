"""Files of a dataset come whole, or the user is told which did not and why."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.web_files import WebFiles, web_files

from runyard.client.data.cache import Cache
from runyard.client.data_files import TransferProblem, bring, is_here


def entry(web: WebFiles | None = None, name: str = "a", size: int | None = 5, **more: Any) -> dict[str, Any]:
    url = f"{web.url}/{name}" if web else None
    return {"path": f"/{name}", "source": url or name, "size": size, "etag": None, "modified": None, "local": None} | {
        "url": url,
        "content": None,
        **more,
    }


def never(address: str, place: Path, halt: Callable[[], None]) -> None:
    raise AssertionError(address)


def test_a_broken_connection_is_taken_up_where_it_broke(tmp_path: Path) -> None:
    with web_files(a=b"0123456789") as web:
        web.cut_after["a"] = 4
        assert bring([entry(web, size=10)], [tmp_path / "sub" / "a"], never, link=True)["fetched"] == 1
        assert web.requests[-1] == ("GET", "a", "bytes=4-")
    assert (tmp_path / "sub" / "a").read_bytes() == b"0123456789"
    assert oct((tmp_path / "sub" / "a").stat().st_mode & 0o777) == "0o444"


def test_a_server_without_ranges_is_read_from_the_beginning(tmp_path: Path) -> None:
    with web_files(a=b"0123456789") as web:
        web.no_ranges, web.cut_after["a"] = True, 4
        bring([entry(web, size=10)], [tmp_path / "a"], never, link=False)
    assert (tmp_path / "a").read_bytes() == b"0123456789"
    assert os.access(tmp_path / "a", os.W_OK)


def test_what_is_refused_or_has_another_size_is_said(tmp_path: Path) -> None:
    with web_files(a=b"12345") as web:
        with pytest.raises(TransferProblem, match="5 bytes, and was listed with 6"):
            bring([entry(web, size=6)], [tmp_path / "a"], never, link=True)
        web.refused["a"] = 403
        with pytest.raises(TransferProblem, match="403 Forbidden") as problem:
            bring([entry(web)], [tmp_path / "a"], never, link=True)
        assert f"runyard data map {web.url}/ " in problem.value.help
    assert not (tmp_path / "a").exists()


def test_what_the_disk_has_no_room_for_is_not_begun(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    with web_files(a=b"12345") as web, cache.lease() as lease:
        with pytest.raises(
            TransferProblem, match=r"no space left .*10,000,000,000,000,000 bytes are to be fetched"
        ) as full:
            bring([entry(web, size=10**16, etag="x")], [tmp_path / "a"], never, link=True, lease=lease)
        assert "runyard data cache gc" in full.value.help
        assert not web.requests
    assert not (tmp_path / "a").exists()


def test_what_lies_here_is_linked_or_copied(tmp_path: Path) -> None:
    from runyard.server.data.folder_place import stored

    there = tmp_path / "there"
    there.write_bytes(b"12345")
    facts = stored("there", there.stat())
    here = entry(local=str(there), size=facts.size, etag=facts.etag, modified=facts.modified)
    assert bring([here], [tmp_path / "link"], never, link=True)["linked"] == 1
    assert (tmp_path / "link").resolve() == there
    assert bring([here], [tmp_path / "copy"], never, link=False)["copied"] == 1
    (tmp_path / "copy").write_bytes(b"changed")
    assert there.read_bytes() == b"12345"
    assert not is_here({**here, "size": 6}), "another file at the same path, on another machine"
    asked = []

    def fetch(address: str, place: Path, halt: Callable[[], None]) -> None:
        asked.append(address)
        place.write_bytes(b"123456")

    bring([{**here, "size": 6, "content": "datasets/x"}], [tmp_path / "c"], fetch, link=True)
    assert asked == ["datasets/x"]
