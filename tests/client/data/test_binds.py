"""Folders that are shown at another place: read-only from the first moment, and gone with whoever they were for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runyard.client.data import binds
from runyard.client.data.mounts import mount_points

pytestmark = pytest.mark.skipif(not binds.possible(), reason="a bind mount needs root and Linux")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "source" / "deep").mkdir(parents=True)
    (tmp_path / "source" / "deep" / "a").write_text("1")
    return tmp_path / "source"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "a place").mkdir()
    return tmp_path / "a place"


def test_what_is_shown_cannot_be_changed_and_goes(source: Path, place: Path, tmp_path: Path) -> None:
    bound = binds.bind(source, place, tmp_path / "cache")
    try:
        assert (place / "deep" / "a").read_text() == "1"
        for change in ((place / "deep" / "a").unlink, (place / "new").touch, (place / "deep" / "a").touch):
            with pytest.raises(OSError, match="Read-only file system"):
                change()
        assert binds.detach_dead(tmp_path / "cache") == [], "whose it is lives"
    finally:
        bound.end()
    assert os.listdir(place) == []
    assert list((tmp_path / "cache" / "binds").iterdir()) == []
    assert (source / "deep" / "a").read_text() == "1"
    bound.end()


def test_that_of_a_process_which_is_gone_is_taken_away(source: Path, place: Path, tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from runyard.client.data.binds import bind; "
    code += "bind(*map(Path, sys.argv[1:]))"
    subprocess.run([sys.executable, "-c", code, source, place, tmp_path / "cache"], check=True, timeout=60)
    assert str(place) in mount_points()
    assert binds.detach_dead(tmp_path / "cache") == [str(place)]
    assert str(place) not in mount_points()
    assert binds.detach_dead(tmp_path / "cache") == []


def test_whatever_is_below_a_folder_is_taken_away(source: Path, place: Path, tmp_path: Path) -> None:
    binds.bind(source, place, tmp_path / "cache")
    assert binds.detach_below(tmp_path) == [str(place)]
    assert str(place) not in mount_points()


def test_a_folder_that_is_not_there_leaves_nothing(place: Path, tmp_path: Path) -> None:
    with pytest.raises(binds.NotBound, match="No such file"):
        binds.bind(tmp_path / "nowhere", place, tmp_path / "cache")
    assert list((tmp_path / "cache" / "binds").iterdir()) == []
