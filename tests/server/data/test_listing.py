"""The files of a dataset on a disk: the right ones, in their order, and none from outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runyard.contracts.data.datasets import Definition, Source
from runyard.server.data.folder_place import FolderPlace
from runyard.server.data.listing import Going, Listed, Position, find, is_single, whole_folder
from runyard.server.data.places import Stored
from runyard.server.middleware.problems import Problem


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("d/a.csv", "d/sub/c.csv", "d/.hidden", "e/x.txt"):
        place = tmp_path / "store" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(name)
    return tmp_path / "store"


def of(*paths: str) -> Definition:
    return Definition("file", tuple(Source(datastore="store", path=path) for path in paths))


def everything(definition: Definition, folder: Path, after: Position | None = None) -> list[Listed]:
    found, following = Going(definition, {}, lambda _: FolderPlace("store", folder), after).page(100)
    assert following is None
    return found


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["d"], ["/.hidden", "/a.csv", "/sub/c.csv"]),
        (["d/a.csv"], ["/a.csv"]),
        (["d/*"], ["/.hidden", "/a.csv"]),
        (["**/*.csv"], ["/d/a.csv", "/d/sub/c.csv"]),
        (["e/**", "d/a.csv", "e"], ["/store/e/x.txt", "/store/d/a.csv"]),
    ],
)
def test_files_are_listed_once_and_sorted(folder: Path, paths: list[str], found: list[str]) -> None:
    listed = everything(of(*paths), folder)
    assert [each.path for each in listed] == found
    assert all(Path(str(each.local)).stat().st_size == each.size for each in listed)


def test_a_single_file_is_told_from_a_folder_with_one(folder: Path) -> None:
    for path, single in (("d/a.csv", True), ("e", False), ("e/*", False)):
        definition = of(path)
        assert is_single(definition, everything(definition, folder)) is single


def test_an_empty_source_is_said(folder: Path) -> None:
    for path in ("nothing", "d/*.png", "nothing/**"):
        with pytest.raises(Problem) as problem:
            everything(of(path), folder)
        assert problem.value.code == "source_empty"
        assert path in problem.value.title


def test_a_mapped_file_that_is_missing_is_said_with_both_places(folder: Path) -> None:
    definition = Definition("file", (Source(url="http://gone.org/e/y.txt"),))
    with pytest.raises(Problem) as problem:
        Going(definition, {"http://gone.org/": str(folder)}, lambda _: FolderPlace("store", folder)).page(100)
    assert problem.value.code == "source_unreachable"
    assert str(folder / "e" / "y.txt") in problem.value.title
    definition = Definition("file", (Source(url="http://gone.org/e/x.txt"),))
    there = find(definition, {"http://gone.org/": str(folder)}, lambda _: FolderPlace("store", folder), "/x.txt")
    assert there is not None
    assert there.local == str(folder / "e" / "x.txt")
    assert find(definition, {}, lambda _: FolderPlace("store", folder), "/x.txt") is None


@pytest.mark.parametrize("paths", [["**"], ["d/*.csv", "e", "d", "**"], ["d", "**/*.csv"]])
@pytest.mark.parametrize(
    "steps",
    [
        (),
        ({"step": "skip", "count": 1}, {"step": "take", "count": 2}),
        ({"step": "take", "count": 3}, {"step": "sample", "probability": 0.5, "seed": 3, "rest": False}),
    ],
)
def test_a_listing_goes_on_after_any_file(folder: Path, paths: list[str], steps: tuple[dict[str, Any], ...]) -> None:
    definition = replace(of(*paths), steps=steps)
    whole = everything(definition, folder)
    assert len({each.path for each in whole}) == len(whole)
    going = Going(definition, {}, lambda _: FolderPlace("store", folder))
    for number, each in enumerate(whole):
        page, position = going.page(1)
        assert page == [each]
        assert (position is None) is (number == len(whole) - 1)
        if position is not None:
            again = Position.parse(str(position), len(steps))
            assert everything(definition, folder, again) == whole[number + 1 :]


def test_names_alone_are_the_same_names(folder: Path) -> None:
    """Also of what a filter chooses by what only a look at the files tells."""
    os.symlink(folder / "e" / "x.txt", folder / "d" / "link.txt")
    os.symlink(folder / "nowhere", folder / "d" / "nowhere.txt")
    large = {"op": ">", "of": [{"column": "file:Size"}, {"value": 7}]}
    for steps in ((), ({"step": "filter", "expression": large},)):
        definition = replace(of("**"), steps=steps)
        names, _ = Going(definition, {}, lambda _: FolderPlace("store", folder), facts=False).page(100)
        whole = everything(definition, folder)
        assert [each.path for each in names] == [each.path for each in whole]
        assert len(whole) == (2 if steps else 5)


@pytest.mark.parametrize("text", ["", "{}", "[0]", '[0, "a", 1]', '[-1, "a"]', '["0", "a"]', "[true, 1]", "[" * 100])
def test_what_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(Problem, match="is no position"):
        Position.parse(text, 0)


def test_a_file_that_would_leave_its_folder_is_refused(tmp_path: Path) -> None:
    class Hostile(FolderPlace):
        def files(self, below: str = "", after: str | None = None, facts: bool = True) -> Iterator[Stored]:
            yield Stored("d/../../x", 1, None, None)

    with pytest.raises(Problem, match="would leave its folder"):
        Going(of("**"), {}, lambda _: Hostile("store", tmp_path)).page(100)


def test_a_dataset_that_is_a_folder_and_nothing_else(folder: Path) -> None:
    def whole(definition: Definition) -> tuple[str, int] | None:
        found = whole_folder(definition, lambda _: FolderPlace("store", folder))
        return found[:2] if found is not None else None

    assert whole(of("**")) == whole(of("")) == whole(of("/")) == (str(folder), 4)
    assert whole(of("d/**")) == whole(of("d")) == (str(folder / "d"), 3)
    for other in ("d/*.csv", "d*/**", "d/**/*.csv", "d/a.csv", "nothing", "*"):
        assert whole(of(other)) is None, other
    assert whole(of("d", "e")) is None
    assert whole(replace(of("d"), steps=({"step": "take", "count": 9},))) is None
    left_out = folder / "d" / "left-out"
    os.mkfifo(left_out)
    assert whole(of("d")) is None, "more would be seen than is listed"
    left_out.unlink()
    left_out.symlink_to("/etc")
    assert whole(of("d")) is None
    left_out.unlink()
    (folder / "link").symlink_to(folder / "d")
    assert whole(of("link")) is None
    assert whole(of("e")) == (str(folder / "e"), 1)
