"""The files of a dataset on a disk: the right ones, in their order, and none from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.contracts.data.datasets import Definition, Source
from runyard.server.data.listing import files, find, is_single
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
    listed = list(files(of(*paths), {}, lambda _: folder))
    assert [each.path for each in listed] == found
    assert all(Path(str(each.local)).stat().st_size == each.size for each in listed)


def test_a_single_file_is_told_from_a_folder_with_one(folder: Path) -> None:
    for path, single in (("d/a.csv", True), ("e", False), ("e/*", False)):
        definition = of(path)
        assert is_single(definition, list(files(definition, {}, lambda _: folder))) is single


def test_an_empty_source_is_said(folder: Path) -> None:
    for path in ("nothing", "d/*.png", "nothing/**"):
        with pytest.raises(Problem) as problem:
            list(files(of(path), {}, lambda _: folder))
        assert problem.value.code == "source_empty"
        assert path in problem.value.title


def test_a_mapped_file_that_is_missing_is_said_with_both_places(folder: Path) -> None:
    definition = Definition("file", (Source(url="http://gone.org/e/y.txt"),))
    with pytest.raises(Problem) as problem:
        list(files(definition, {"http://gone.org/": str(folder)}, lambda _: folder))
    assert problem.value.code == "source_unreachable"
    assert str(folder / "e" / "y.txt") in problem.value.title
    definition = Definition("file", (Source(url="http://gone.org/e/x.txt"),))
    there = find(definition, {"http://gone.org/": str(folder)}, lambda _: folder, "/x.txt")
    assert there is not None
    assert there.local == str(folder / "e" / "x.txt")
    assert find(definition, {}, lambda _: folder, "/x.txt") is None
