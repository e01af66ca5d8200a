"""A file comes whole, however the server behaves, or the user is told why not: no byte of another version, no gap."""

from __future__ import annotations

import base64
import hashlib
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.support.web_files import WebFiles, web_files

from runyard.client.data import transfer
from runyard.client.data.parts import pieces_of
from runyard.client.data.problem import Changed, Halted, TransferProblem
from runyard.client.data.transfer import Around, fetch
from runyard.client.data.web import Web

BODY = random.Random(1).randbytes(1000)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "PIECE", 100)


class Counting:
    def __init__(self) -> None:
        self.bytes = 0
        self.most = 1 << 60

    def halt(self) -> None:
        if self.bytes >= self.most:
            raise Halted

    def came(self, count: int) -> None:
        self.bytes += count


@pytest.fixture
def counting() -> Counting:
    return Counting()


@pytest.fixture
def around(counting: Counting) -> Iterator[Around]:
    web = Web()
    with ThreadPoolExecutor(4) as pool:
        yield Around(web, pool, counting.halt, counting.came)
    web.close()


def entry(web: WebFiles, **more: Any) -> dict[str, Any]:
    return {"source": f"{web.url}/a", "url": f"{web.url}/a", "size": 1000, "etag": None, "modified": None, **more}


def test_ranges_come_side_by_side(tmp_path: Path, around: Around, counting: Counting) -> None:
    with web_files(a=BODY) as web:
        fetch(entry(web), tmp_path / "a", around)
        asked = sorted(int(each[2][6:].partition("-")[0]) for each in web.requests)
    assert (tmp_path / "a").read_bytes() == BODY
    assert asked == list(range(0, 1000, 100))
    assert counting.bytes == 1000
    assert [path.name for path in tmp_path.iterdir()] == ["a"], "no note of the ranges stays"


@pytest.mark.parametrize("size", [1000, None])
def test_a_server_that_always_breaks_off(tmp_path: Path, around: Around, size: int | None) -> None:
    with web_files(a=BODY) as web:
        web.always_cut = 70
        fetch(entry(web, size=size), tmp_path / "a", around)
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_server_without_ranges(tmp_path: Path, around: Around) -> None:
    with web_files(a=BODY) as web:
        web.no_ranges = True
        fetch(entry(web), tmp_path / "a", around)
    assert (tmp_path / "a").read_bytes() == BODY
    assert not pieces_of(tmp_path / "a").exists()


def test_what_was_halted_goes_on_where_it_was(tmp_path: Path, around: Around, counting: Counting) -> None:
    with web_files(a=BODY) as web:
        counting.most = 500
        with pytest.raises(Halted):
            fetch(entry(web), tmp_path / "a", around)
        done = len(pieces_of(tmp_path / "a").read_text().split())
        assert done >= 4
        counting.most, counting.bytes = 1 << 60, 0
        web.requests.clear()
        fetch(entry(web), tmp_path / "a", around)
        assert len(web.requests) == 10 - done
    assert (tmp_path / "a").read_bytes() == BODY


def test_ranges_that_a_mount_has_read_are_not_fetched_again(tmp_path: Path, around: Around) -> None:
    seed = tmp_path / "seed"
    seed.mkdir()
    (seed / "3").write_bytes(BODY[300:400])
    (seed / "4").write_bytes(b"cut")
    with web_files(a=BODY) as web:
        fetch(entry(web), tmp_path / "a", around, seed)
        assert not any(each[2].startswith("bytes=300-") for each in web.requests)
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path: Path, around: Around) -> None:
    with web_files(a=BODY) as web:
        web.etags["a"] = '"new"'
        for size in (1000, None):
            with pytest.raises(Changed, match='ETag "new", and it was "old"'):
                fetch(entry(web, size=size, etag='"old"'), tmp_path / "a", around)
        fetch(entry(web, etag='W/"new"'), tmp_path / "b", around)


def test_sizes_and_hashes_are_checked(tmp_path: Path, around: Around) -> None:
    good = {"sha256": hashlib.sha256(BODY).hexdigest(), "md5": base64.b64encode(hashlib.md5(BODY).digest()).decode()}
    with web_files(a=BODY) as web:
        fetch(entry(web, **good), tmp_path / "a", around)
        for bad in ({"size": 999}, {"sha256": "0" * 64}, {"md5": "0" * 32}):
            with pytest.raises(Changed):
                fetch(entry(web, **{**good, **bad}), tmp_path / "b", around)
            assert not (tmp_path / "b").exists()


def test_an_expired_address_is_asked_for_anew(tmp_path: Path, around: Around) -> None:
    with web_files(a=BODY) as web:
        web.refused["old"] = 403
        expired = entry(web, url=f"{web.url}/old?signature=1")
        renewing = Around(around.web, around.ranges, around.halt, around.came, lambda each: f"{web.url}/a?signature=2")
        fetch(expired, tmp_path / "a", renewing)
        assert (tmp_path / "a").read_bytes() == BODY
        with pytest.raises(TransferProblem, match="403 Forbidden") as refused:
            fetch(expired, tmp_path / "b", around)
        assert "signature" not in str(refused.value)
