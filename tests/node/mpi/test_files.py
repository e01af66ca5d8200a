"""MPI's own files have a folder of their node's own, and nothing of it stays."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from runyard.node.mpi.files import own_files, remove_files
from runyard.node.problem import RunProblem


def test_a_node_has_one_folder_which_no_other_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folders = [tmp_path / "run", tmp_path / "run@1"]
    for folder in folders:
        folder.mkdir()
    first, second = (own_files(folder) for folder in folders)
    assert first != second
    assert own_files(folders[0]) == first, "also when it is asked for again"
    (Path(first) / "session").touch()
    remove_files(folders[0])
    assert not os.path.exists(first)
    assert os.path.isdir(second)
    assert list(folders[0].iterdir()) == []
    remove_files(folders[1])


def test_there_is_nothing_to_remove_where_mpi_never_ran(tmp_path: Path) -> None:
    remove_files(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(RunProblem, match="could not be made") as raised:
        own_files(tmp_path)
    assert str(tmp_path / "none") in raised.value.help
