"""Links of large datasets are shared by runs: only as long as nothing of them has changed, and never half made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from runyard.client.data import trees
from runyard.client.data.cache import Cache

RECORD: dict[str, Any] = {"files": 2, "bytes": 6, "digest": "x", "seen": []}
KEY = "ab" + "0" * 38


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    found = Cache(tmp_path / "cache")
    place = found.path(KEY)
    place.parent.mkdir(parents=True)
    place.write_bytes(b"123")
    found.note(KEY, {"size": 3, "etag": "e", "modified": None, "url": "http://x/a"})
    return found


def made(cache: Cache, outside: Path, name: str = "0" * 40) -> Path:
    making = trees.Making(cache.folder, name)
    (making.files / "sub").mkdir()
    os.symlink(cache.path(KEY), making.files / "sub" / "a")
    os.symlink(outside, making.files / "b")
    return making.finish("dataset", RECORD, b"lines", [(KEY, 3)], [str(outside)], cache.is_whole)


def test_a_tree_is_used_until_something_of_it_changes(cache: Cache, tmp_path: Path) -> None:
    outside = tmp_path / "b"
    outside.write_bytes(b"456")
    assert not trees.had_one(cache.folder, "dataset")
    files = made(cache, outside)
    assert trees.had_one(cache.folder, "dataset")
    name = "0" * 40

    def usable() -> bool:
        return trees.find(cache.folder, name, cache.is_whole) is not None

    found = trees.find(cache.folder, name, cache.is_whole)
    assert found is not None
    assert (found[0], found[1].record) == (files, RECORD)
    assert trees.listing_of(cache.folder, name) == b"lines"
    assert (files / "sub" / "a").read_bytes() == b"123"
    assert oct((files / "sub").stat().st_mode & 0o777) == "0o555"
    outside.rename(tmp_path / "away")
    assert not usable(), "a disk that is not mounted any more"
    (tmp_path / "away").rename(outside)
    assert usable()
    (files / "sub").chmod(0o755)
    (files / "sub" / "more").write_text("written by root")
    assert not usable()
    assert made(cache, outside) == files, "it is replaced"
    assert usable()
    cache.path(KEY).write_bytes(b"1")
    assert not usable(), "a file of the cache that was cut"


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


def linked(cache: Cache, folder: Path, name: str) -> Path:
    making = cache.tree_of(str(folder), name * 40)
    found = making.link_all_of(str(folder), lambda: None)
    assert found is not None
    return making.finish(str(folder), {"files": found.files, "bytes": 0}, b"", (), (), cache.is_whole)


def what_is_in(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_tree_that_nobody_uses_becomes_the_next_one(cache: Cache, tmp_path: Path) -> None:
    """Names that came, went, and became folders: and nothing is written to where the links lead."""
    data = tmp_path / "data"
    fill(data, "a", "b", "sub/c", "sub/deep/d", "gone/e")
    first = linked(cache, data, "1")
    kept = (first / "sub" / "c").lstat().st_ino
    for name in ("b", "gone/e", "sub/deep/d"):
        (data / name).unlink()
    (data / "gone").rmdir()
    fill(data, "b/now/a/folder", "sub/f", "new/g")
    second = linked(cache, data, "2")
    assert not first.exists()
    assert what_is_in(second) == what_is_in(data)
    assert sorted(os.listdir(second)) == ["a", "b", "new", "sub"]
    assert (second / "sub" / "c").lstat().st_ino == kept, "it was not made again"
    for above, _, _ in os.walk(second):
        assert oct(os.stat(above).st_mode & 0o777) == "0o555"
    (data / "a").unlink()
    fill(data, "a/was/a/file")
    (data / "sub" / "c").unlink()
    (data / "sub" / "f").unlink()
    fill(data, "sub/deep/again")
    third = linked(cache, data, "3")
    assert what_is_in(third) == what_is_in(data) == {name: name for name in what_is_in(data)}
    assert trees.find(cache.folder, "3" * 40, cache.is_whole) is not None


def test_a_tree_in_use_or_of_another_folder_is_left_alone(cache: Cache, tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    fill(data, "a")
    fill(other, "a")
    first = linked(cache, data, "1")
    with cache.lease() as lease:
        lease.add([trees.lease_key("1" * 40)])
        fill(data, "b")
        second = linked(cache, data, "2")
        assert what_is_in(first) == {"a": "a"}
    third = linked(cache, other, "3")
    assert second.exists()
    assert os.readlink(third / "a") == str(other / "a")
    third.chmod(0o755)
    (third / "written").write_text("by its owner")
    fourth = linked(cache, other, "4")
    assert third.exists()
    assert what_is_in(fourth) == {"a": "a"}


def test_another_node_was_quicker(cache: Cache, tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"456")
    first = made(cache, tmp_path / "b")
    at = first.stat().st_ino
    assert made(cache, tmp_path / "b").stat().st_ino == at
    assert sorted(os.listdir(cache.folder / trees.FOLDER)) == ["0" * 40, "of"]


def test_what_a_tree_links_to_stays_while_it_is_used(cache: Cache, tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"456")
    files = made(cache, tmp_path / "b")
    half = trees.Making(cache.folder, "1" * 40)
    with cache.lease() as lease:
        lease.add([trees.lease_key("0" * 40)])
        assert cache.collect(0) == []
        assert (files / "sub" / "a").read_bytes() == b"123"
        assert not half.files.exists(), "one that was not finished, and that nobody makes any more"
    assert [each.key for each in cache.collect(0)] == [KEY]
    assert not files.exists()
    assert not trees.had_one(cache.folder, "dataset")
    assert (tmp_path / "b").exists()


def test_only_the_last_ones_are_kept(cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MOST", 2)
    (tmp_path / "b").write_bytes(b"456")
    for number in range(4):
        files = made(cache, tmp_path / "b", str(number) * 40)
        os.utime(files.parent / "tree.json", (1000 + number, 1000 + number))
    cache.collect()
    assert sorted(os.listdir(cache.folder / trees.FOLDER)) == ["2" * 40, "3" * 40, "of"]


def test_many_links_are_made_side_by_side_all_or_none(cache: Cache, tmp_path: Path) -> None:
    data = tmp_path / "data"
    fill(data, *(f"{number % 7}/{number % 3}/{number}" for number in range(2_000)))
    first = linked(cache, data, "1")
    assert what_is_in(first) == what_is_in(data)
    for path in (data / "3").rglob("*"):
        if path.is_file():
            path.unlink()
    for folder in ("0", "1", "2"):
        (data / "3" / folder).rmdir()
    (data / "3").rmdir()
    fill(data, "3", *(f"new/{number}" for number in range(2_000)))
    making = cache.tree_of(str(data), "2" * 40)
    assert making.link_all_of(str(data), lambda: None) is None, "a link cannot take the place of a folder"
    making.give_up()
    again = linked(cache, data, "3")
    assert what_is_in(again) == what_is_in(data)
