"""The names of a folder's files: the same word as long as there are the same files, and no word for anything else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runyard.contracts.data.folder_names import Names, NotOnlyFiles, may_be_added_to


def seen(root: Path) -> tuple[str, int, list[str]]:
    names = Names()
    paths = [f"{below}/{name}" for below, inside in names.walk(str(root)) for name in inside]
    return names.value, names.files, paths


def test_names_and_nothing_else_make_the_word(tmp_path: Path) -> None:
    for name in ("a/b", "a/c", "d"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    word, files, paths = seen(tmp_path)
    assert (files, paths) == (3, ["/d", "a/b", "a/c"])
    (tmp_path / "a" / "b").write_text("changed")
    (tmp_path / "empty").mkdir()
    assert seen(tmp_path) == (word, files, paths), "content and empty folders are not names"
    words = {word}
    (tmp_path / os.fsdecode(b"\xff\n")).write_text("1")
    words.add(seen(tmp_path)[0])
    os.rename(tmp_path / "a" / "b", tmp_path / "empty" / "b")
    words.add(seen(tmp_path)[0])
    os.rename(tmp_path / "a" / "c", tmp_path / "b")
    words.add(seen(tmp_path)[0])
    assert len(words) == 4, "a file that comes, or goes elsewhere, is noticed"


def test_what_is_no_file_has_no_word(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    seen(tmp_path)
    for name in ("link", "pipe", ".0123.runyard-part"):
        place = tmp_path / name
        if name == "link":
            os.symlink("a", place)
        elif name == "pipe":
            os.mkfifo(place)
        else:
            place.write_text("half")
        with pytest.raises(NotOnlyFiles):
            seen(tmp_path)
        place.unlink()


def test_a_folder_that_can_be_added_to_is_found_however_deep(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "c").mkdir()
    asked: list[None] = []
    assert may_be_added_to(str(tmp_path), lambda: asked.append(None))
    assert len(asked) == 1, "one is enough"
    if os.geteuid() != 0:  # root may write into any folder
        folders = [tmp_path, tmp_path / "a", tmp_path / "c", tmp_path / "a" / "b"]
        for each in folders:
            each.chmod(0o555)
        assert not may_be_added_to(str(tmp_path))
        (tmp_path / "a" / "b").chmod(0o755)
        assert may_be_added_to(str(tmp_path))
        for each in folders:
            each.chmod(0o755)
