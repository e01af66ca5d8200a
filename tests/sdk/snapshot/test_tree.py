"""Walking a folder: links that lead out are followed, what is no file is left out and named."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from tests.sdk.snapshot.folders import entries

from runyard.contracts import manifest
from runyard.sdk.snapshot.ignore import ignored_by
from runyard.sdk.snapshot.tree import walk


def test_links_that_lead_out_or_nowhere(tmp_path: Path) -> None:
    source, outside = tmp_path / "source", tmp_path / "outside"
    (source / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "data.csv").write_text("1")
    (source / "real.txt").write_text("r")
    (source / "file").symlink_to(outside / "data.csv")
    (source / "folder").symlink_to(outside)
    (source / "broken").symlink_to("nowhere")
    (source / "loop").symlink_to("loop")
    (source / "sub" / "absolute").symlink_to(source / "real.txt")
    found = entries(source, tmp_path / "cache")
    assert found["file"].kind == manifest.FILE
    assert "folder" not in found
    assert "folder (a link to" in walk(source, ignored_by(source)).left_out[0]
    assert found["broken"].target == "nowhere"
    assert found["loop"].target == "loop"
    assert found["sub/absolute"].target == "../real.txt"


def test_sockets_and_pipes_are_left_out_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        tree = walk(tmp_path, ignored_by(tmp_path))
    assert sorted(left.split()[0] for left in tree.left_out) == ["pipe", "socket"]
    assert tree.files == []


def test_runyards_own_home_is_never_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever submits from their home folder would send their token and their secrets along."""
    monkeypatch.setenv("RUNYARD_HOME", str(tmp_path / "me" / ".runyard"))
    (tmp_path / "me" / ".runyard").mkdir(parents=True)
    (tmp_path / "me" / ".runyard" / "token").write_text("hidden")
    (tmp_path / "me" / "train.py").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "me")
    for folder in (tmp_path / "me", tmp_path / "link"):
        tree = walk(folder, ignored_by(folder))
        assert [file.path for file in tree.files] == ["train.py"]
        assert tree.left_out == [".runyard (the files of Runyard itself)"]
