"""A listing of any length is held in little memory, and gives its files in their order."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from runyard.client.data import listing as listings
from runyard.client.data.listing import Files, Listing, listing, paths, state


def entry(number: int, folder: str = "d") -> dict[str, Any]:
    path = f"/{folder}/{number:07d}.bin"
    facts = {"size": 3, "etag": f'"3-{number:x}"', "modified": "2026-01-02T03:04:05.000000Z"}
    return {"path": path, "source": "('s', 'd')", "local": f"/data{path}", "url": None, "content": None, **facts}


def test_pages_of_a_listing_are_put_together() -> None:
    pages = {
        None: {"files": [{"path": "/a", "size": 1}], "single": False, "several": True, "next": "/a"},
        "/a": {"files": [{"path": "/b", "size": 2}], "single": False, "several": True, "next": None},
    }
    found = listing(lambda address, params: pages[params["after"]], "/datasets/x")
    assert (list(found.layout()), found.bytes, found.single, found.several) == (["/a", "/b"], 3, False, True)


def test_pages_of_paths_are_put_together() -> None:
    pages = {None: {"paths": ["/a", "/b"], "next": "2"}, "2": {"paths": ["/c"], "next": None}}
    assert list(paths(lambda address, params: pages[params["after"]], "/datasets/x")) == ["/a", "/b", "/c"]


def test_files_are_found_by_position_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listings, "PAGE", 10)
    files = Files(entry(number) for number in range(35))
    assert len(files) == 35
    assert [each["path"] for each in files] == [entry(number)["path"] for number in range(35)]
    assert (files[0], files[19], files[-1]) == (entry(0), entry(19), entry(34))
    assert files[8:12] == [entry(number) for number in range(8, 12)]
    with pytest.raises(IndexError):
        files[35]


def test_a_million_files_need_little_memory() -> None:
    """One file as a dictionary takes more than a kilobyte; 200,000 of them would take 200 MB and more."""

    def pages() -> Iterator[dict[str, Any]]:
        for begin in range(0, 200_000, 10_000):
            last = begin == 190_000
            files = [entry(number) for number in range(begin, begin + 10_000)]
            yield {"files": files, "single": False, "several": False, "next": None if last else str(begin)}

    going = pages()
    tracemalloc.start()
    try:
        found = listing(lambda address, params: next(going), "/datasets/x")
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.files) == 200_000
    assert found.bytes == 600_000
    assert held < 30e6, "what is held of 200,000 files"
    assert most < 60e6, "what was held at most, with the page that came"


def test_a_mount_of_several_sources_leaves_out_what_all_share() -> None:
    found = Listing([entry(1, "s/a")], False, True)
    found.add([entry(2, "s/b")])
    assert list(found.mounted()) == ["/a/0000001.bin", "/b/0000002.bin"]
    assert list(found.layout()) == ["/s/a/0000001.bin", "/s/b/0000002.bin"]


def test_the_state_changes_with_any_file() -> None:
    def of(*files: dict[str, Any]) -> str | None:
        return Listing(files, False, False).state.value

    one = of(entry(1), entry(2))
    assert one is not None
    assert one == of(entry(1), entry(2))
    for other in ({"etag": "x"}, {"size": 4}, {"local": "/elsewhere"}, {"path": "/d/other"}):
        assert of(entry(1), {**entry(2), **other}) != one
    assert of(entry(1), {**entry(2), "etag": None, "modified": None}) is None, "nothing tells it from a changed one"
    assert state(lambda address, params: {"state": one}, "/datasets/x") == one
