"""A datastore that is a folder: sorted whatever its depth, resumed after any file, and no file half written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runyard.server.data.folder_place import FolderPlace
from runyard.server.middleware.problems import Problem

FILES = ["a", "a.txt", "a/b", "a/b.c/d", "a/c", "a0", ".h", "z/y/x"]


@pytest.fixture
def place(tmp_path: Path) -> FolderPlace:
    for number, name in enumerate(each for each in FILES if each != "a"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * number)
    return FolderPlace("mine", tmp_path)


def test_a_listing_is_sorted_and_goes_on_after_any_file(place: FolderPlace) -> None:
    whole = [each.path for each in place.files()]
    assert whole == sorted(each for each in FILES if each != "a")
    for number, path in enumerate(whole):
        assert [each.path for each in place.files(after=path)] == whole[number + 1 :]
    assert [each.path for each in place.files(after="a/b.b")] == [each for each in whole if each > "a/b.b"]
    assert [each.path for each in place.files("a")] == ["a/b", "a/b.c/d", "a/c"]
    assert [each.path for each in place.files("a/b")] == ["a/b"]
    assert list(place.files("nothing")) == []


def test_what_is_no_file_is_left_out(place: FolderPlace, tmp_path: Path) -> None:
    before = [each.path for each in place.files()]
    os.symlink("nowhere", tmp_path / "broken")
    os.symlink(tmp_path, tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / ".0123.runyard-part").write_text("half")
    assert [each.path for each in place.files()] == before
    assert place.look("pipe") is None
    assert place.look("nothing") is None


def test_a_file_is_taken_whole_and_removed(place: FolderPlace, tmp_path: Path) -> None:
    source = tmp_path.parent / f"{tmp_path.name}-source"
    source.write_bytes(b"content")
    place.take("new/folder/file", source)
    assert (tmp_path / "new/folder/file").read_bytes() == b"content"
    assert b"".join(place.read("new/folder/file", 3, 5)) == b"te"
    assert not source.exists()
    source.write_bytes(b"other")
    with pytest.raises(Problem, match="cannot be used"):
        place.take("new/folder/file/below", source)
    assert [each.path for each in place.files("new")] == ["new/folder/file"], "nothing is left of a failed one"
    place.remove("new/folder/file")
    place.remove("new/folder/file")
    assert list(place.files("new")) == []


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(Problem) as problem:
        list(FolderPlace("mine", tmp_path / "nowhere").files())
    assert problem.value.code == "datastore_unreachable"
    assert str(tmp_path / "nowhere") in problem.value.title
