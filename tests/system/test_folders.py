"""If these fail, a script that nests folders deeply ends its node runner, or leaves what nobody can remove."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard.system import folders

DEPTH = sys.getrecursionlimit() + 200


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[str]:
    """A folder so deep that recursion would not get there: pytest could not remove it either."""
    path = os.path.join(tmp_path, "top", *["d"] * DEPTH)
    folders.make(path)
    Path(path, "file").write_text("content")
    yield path
    subprocess.run(["rm", "-rf", tmp_path / "top"], check=True)


def test_a_deep_folder_is_made_and_again(deep: str) -> None:
    folders.make(deep)
    assert os.path.isdir(deep)


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with pytest.raises(OSError, match="x"):
        folders.make(str(tmp_path / "x" / "y"))


def test_a_deep_folder_is_walked_through(deep: str, tmp_path: Path) -> None:
    found = list(folders.walk(str(tmp_path / "top")))
    assert len(found) == DEPTH + 1
    assert found[-1] == (deep, [], ["file"])


def test_a_walk_is_that_of_the_standard_library(tmp_path: Path) -> None:
    for name in ("b/c", "a/x/y", "a/z", "empty"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("b/one", "a/x/two", "three"):
        (tmp_path / name).touch()
    (tmp_path / "a" / "link").symlink_to(tmp_path / "b")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "a" / "nowhere").symlink_to("nowhere-at-all")

    def shown(walk: list[tuple[str, list[str], list[str]]]) -> dict[str, tuple[list[str], list[str]]]:
        return {place: (sorted(below), sorted(files)) for place, below, files in walk}

    assert shown(list(folders.walk(str(tmp_path)))) == shown(list(os.walk(tmp_path)))
    assert list(folders.walk(str(tmp_path / "not there"))) == []


def test_a_deep_folder_is_removed(deep: str, tmp_path: Path) -> None:
    problems: list[str] = []
    folders.remove(tmp_path / "top", lambda path, error: problems.append(f"{path}: {error}"))
    assert problems == []
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_deeper_than_any_path_is_removed(tmp_path: Path) -> None:
    here = os.getcwd()
    (tmp_path / "top").mkdir()
    os.chdir(tmp_path / "top")
    try:
        for _ in range(60):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
        Path("file").touch()
    finally:
        os.chdir(here)
    folders.remove(tmp_path / "top")
    assert list(tmp_path.iterdir()) == []


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    top = tmp_path / "top"
    (top / "a" / "b").mkdir(parents=True)
    for place in (top, top / "a" / "b"):
        (place / "link").symlink_to(tmp_path / "kept")
        (place / "file").symlink_to(tmp_path / "kept" / "file")
    folders.remove(top)
    assert not top.exists()
    assert (tmp_path / "kept" / "file").exists()
    (tmp_path / "top").symlink_to(tmp_path / "kept")
    problems: list[str] = []
    folders.remove(top, lambda path, error: problems.append(path))
    assert problems == [str(top)]
    assert (tmp_path / "kept" / "file").exists()


def test_nothing_to_remove_is_no_problem(tmp_path: Path) -> None:
    problems: list[str] = []
    folders.remove(tmp_path / "not there", lambda path, error: problems.append(path))
    assert problems == []


def test_two_at_once_leave_nothing(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / "top" / str(number % 7) / str(number) / "x").mkdir(parents=True)
        (tmp_path / "top" / str(number % 7) / str(number) / "x" / "file").touch()
    both = [threading.Thread(target=folders.remove, args=(tmp_path / "top",)) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    folders.remove(tmp_path / "top")
    assert list(tmp_path.iterdir()) == []
