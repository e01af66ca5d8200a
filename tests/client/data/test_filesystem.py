"""The tree of a mount has every folder that the paths of its files name."""

from __future__ import annotations

from pathlib import Path

from runyard.client.data.cache import Cache
from runyard.client.data.filesystem import Tree
from runyard.client.data.lazy import LazyFiles


def test_folders_are_made_of_paths(tmp_path: Path) -> None:
    facts = {"source": "s", "size": 1, "etag": "x", "modified": None, "local": None, "url": None}
    files = [{**facts, "path": path, "at": path} for path in ("/a", "/b/c", "/b/d/e")]
    lazily = LazyFiles(files, Cache(tmp_path).lease(), print)
    tree = Tree(lazily)
    assert tree.folders == {"/": {"a": True, "b": False}, "/b": {"c": True, "d": False}, "/b/d": {"e": True}}
    assert set(tree.files) == {"/a", "/b/c", "/b/d/e"}
    lazily.close()
