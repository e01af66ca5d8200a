"""Only what would have to be fetched counts: data on this disk and in the cache is never mounted lazily."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runyard.client.data import lazily
from runyard.client.data.cache import Cache, key_of
from runyard.client.data.lazily import Missing, missing, mount_lazily
from runyard.client.data.listing import Listing
from runyard.client.data.mounts import NotMounted
from runyard.client.http import Locator


def entry(name: str, size: int | None = 10, **more: Any) -> dict[str, Any]:
    facts = {"path": f"/{name}", "source": name, "size": size, "etag": '"1"', "modified": None, "local": None}
    return {**facts, "url": f"http://127.0.0.1:9/{name}", "content": None, **more}


def test_what_is_here_does_not_count(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cached = entry("cached")
    place = cache.path(str(key_of(cached)))
    place.parent.mkdir(parents=True)
    place.write_bytes(b"0123456789")
    found = Listing([cached, entry("a"), entry("b")], False, True)
    assert missing(found, cache, 15) == Missing(2, 20, False)
    assert missing(found, cache, 20) is None
    assert missing(found, cache, None) is None, "never"
    assert missing(Listing([entry("a"), entry("x", None)], False, True), cache, 5) == Missing(2, 10, True)


def test_what_cannot_be_shown_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Listing([entry("a"), entry("b")], False, True)
    around: Any = (tmp_path, Locator("http://127.0.0.1:9", "t"), "/w", "/w/d", tmp_path, [])
    with pytest.raises(NotMounted, match="size of a file"):
        mount_lazily(tmp_path, found, Missing(2, 20, True), *around)
    monkeypatch.setattr(lazily, "MOST", 1)
    with pytest.raises(NotMounted, match="at most 1 files"):
        mount_lazily(tmp_path, found, Missing(2, 20, False), *around)


def test_what_only_the_server_gives_has_its_address_and_token() -> None:
    server = Locator("http://h", "t")
    given = lazily._readable(server, "/api/workspaces/w", entry("a", url=None, content="datasets/1/content?path=a"))
    assert given["url"] == "http://h/api/workspaces/w/datasets/1/content?path=a"
    assert given["headers"] == {"Authorization": "Bearer t"}
    assert lazily._readable(server, "/w", entry("a")) == entry("a")
