"""If these fail, files that were moved aside are lost before anybody could put the right database back."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from runyard.store.content.aside import HELD, Aside, Held, held_back, remember


def test_a_file_moves_aside_and_back(tmp_path: Path) -> None:
    aside, path = Aside(tmp_path), tmp_path / "file"
    assert aside.waiting() == []
    path.write_bytes(b"content")
    aside.take(path, "name")
    (waiting,) = aside.waiting()
    assert (waiting.name, waiting.size, path.exists()) == ("name", 7, False)
    aside.give_back("name", path)
    assert (path.read_bytes(), aside.waiting()) == (b"content", [])
    aside.give_back("name", path)
    assert path.read_bytes() == b"content", "what is not here changes nothing"


def test_a_file_that_is_not_there_cannot_be_moved(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Aside(tmp_path).take(tmp_path / "nothing", "name")


def test_the_wait_begins_when_a_file_is_moved_not_when_it_was_made(tmp_path: Path) -> None:
    aside, path = Aside(tmp_path), tmp_path / "file"
    path.write_bytes(b"content")
    os.utime(path, (0, 0))
    aside.take(path, "name")
    assert aside.remove(3600) == 0
    then = time.time() - 7200
    os.utime(aside.folder / "name", (then, then))
    assert aside.remove(3600) == 7
    assert aside.waiting() == []


def test_what_a_sweep_held_back_is_remembered_until_the_next(tmp_path: Path) -> None:
    assert held_back(tmp_path) is None
    remember(tmp_path, Held(30, 5000, 40))
    assert held_back(tmp_path) == Held(30, 5000, 40)
    remember(tmp_path, None)
    assert held_back(tmp_path) is None
    remember(tmp_path, None)


@pytest.mark.parametrize("text", ["", "{half", "[]", '{"files": 1}', '{"files": "x", "bytes": 1, "of": 1}'])
def test_a_damaged_note_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / HELD).write_text(text)
    assert held_back(tmp_path) is None
