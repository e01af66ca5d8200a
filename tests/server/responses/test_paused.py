"""Listings between two requests: gone on with once, and not kept for ever."""

from __future__ import annotations

import threading
import uuid
from pathlib import Path

import pytest

from runyard.contracts.data.datasets import Definition, Source
from runyard.server.data.folder_place import FolderPlace
from runyard.server.data.listing import Going
from runyard.server.responses import paused


def listing(folder: Path) -> Going:
    for name in "abc":
        (folder / name).touch()
    definition = Definition("file", (Source(datastore="store", path="**"),))
    return Going(definition, {}, lambda _: FolderPlace("store", folder))


def test_a_listing_is_taken_by_one_request_alone(tmp_path: Path) -> None:
    key = ("local", uuid.uuid4().hex, "files", "1")
    begun = listing(tmp_path)
    begun.page(1)
    paused.keep(key, begun)
    going = paused.take(key, Going)
    assert going is not None
    assert [each.path for each in going.page(3)[0]] == ["/b", "/c"]
    assert paused.take(key, Going) is None
    paused.keep(key, paused.Pages(iter("abc")))
    assert paused.take(key, Going) is None, "it is a listing of something else"


def test_pages_tell_whether_there_are_more() -> None:
    pages = paused.Pages(iter("abcd"))
    assert (pages.page(2), pages.more()) == (["a", "b"], True)
    assert (pages.page(1), pages.more(), pages.more()) == (["c"], True, True)
    assert (pages.page(5), pages.more(), pages.page(5)) == (["d"], False, [])


def test_only_a_few_are_kept_and_old_ones_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [("local", uuid.uuid4().hex, "files", str(number)) for number in range(paused.MOST + 1)]
    for key in keys:
        paused.keep(key, listing(tmp_path))
    assert paused.take(keys[0], Going) is None
    monkeypatch.setattr(paused, "KEPT", 0.0)
    paused._drop_old()
    assert paused.take(keys[-1], Going) is None


def test_one_timer_watches_over_all_that_is_kept() -> None:
    def timers() -> int:
        return sum(isinstance(thread, threading.Timer) for thread in threading.enumerate())

    before = timers()
    for number in range(20):  # page after page: each is taken before the next one is kept
        key = ("local", uuid.uuid4().hex, str(number))
        paused.keep(key, paused.Pages(iter("ab")))
        assert paused.take(key, paused.Pages) is not None
    assert timers() <= before + 1
