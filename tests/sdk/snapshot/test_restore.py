"""A snapshot becomes the folder it was taken from: every name, link and mode."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sdk.snapshot.folders import entries, unpack

from runyard.sdk.exceptions import SnapshotException
from runyard.sdk.snapshot import snapshot
from runyard.sdk.snapshot.restore import restore_zip
from runyard.sdk.workspace.workspace import Workspace


def test_a_folder_comes_back_as_it_was(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "pkg" / "empty").mkdir(parents=True)
    (source / "train.py").write_text("print(1)")
    (source / "run.sh").write_text("#!/bin/sh")
    (source / "run.sh").chmod(0o755)
    (source / "pkg" / "ünï çødé 文.txt").write_text("ü")
    (source / "pkg" / "same.txt").write_text("print(1)")
    (source / "link").symlink_to("pkg/same.txt")
    (source / "to_folder").symlink_to("pkg")
    back = unpack(workspace, snapshot.take_snapshot(workspace.service, source), tmp_path / "back")
    assert sorted(path.relative_to(back).as_posix() for path in back.rglob("*")) == sorted(
        path.relative_to(source).as_posix() for path in source.rglob("*")
    )
    assert os.readlink(back / "link") == "pkg/same.txt"
    assert os.readlink(back / "to_folder") == "pkg"
    assert os.access(back / "run.sh", os.X_OK)
    assert not os.access(back / "train.py", os.X_OK)
    assert (back / "pkg" / "ünï çødé 文.txt").read_text() == "ü"


NAMES = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="/\\"), min_size=1, max_size=8
).filter(lambda name: name.strip() and name not in (".", ".."))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(
        NAMES.filter(lambda n: n.strip() and n not in (".", "..")), st.binary(max_size=50), max_size=5
    )
)
def test_any_names_and_contents_come_back(
    workspace: Workspace, tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("target")
    (source / ".amlignore").write_text("")
    for name, content in files.items():
        (source / name).write_bytes(content)
    back = unpack(workspace, snapshot.take_snapshot(workspace.service, source), target)
    (back / ".amlignore").unlink()
    assert {path.name: path.read_bytes() for path in back.iterdir()} == files


def test_names_that_are_no_unicode_are_kept(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    Path(os.fsdecode(os.fsencode(source) + b"/\xff.txt")).write_text("odd")
    (source / "back\\slash").write_text("no")
    found = entries(source, tmp_path / "cache")
    assert list(found) == ["\udcff.txt"]
    snapshot_id = snapshot.take_snapshot(workspace.service, source)
    with zipfile.ZipFile(restore_zip(workspace.service, snapshot_id, tmp_path)) as archive:
        assert archive.namelist() == ["%FF.txt"]


def test_an_id_that_is_no_id_does_not_become_a_path(workspace: Workspace, tmp_path: Path) -> None:
    """It may come from a server that lies, and the zip is named like it."""
    for wrong in ("../outside", "/tmp/x", "", "A" * 64):
        with pytest.raises(SnapshotException, match="no id of a snapshot"):
            restore_zip(workspace.service, wrong, tmp_path / "here")
    assert list(tmp_path.iterdir()) == []
