"""Uploads and downloads of a datastore: SDK v1's layout, return values and skips."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from azureml.core import Dataset, Workspace
from runyard.sdk.exceptions import UserErrorException


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.txt", "sub/b.txt", ".hidden"):
        place = tmp_path / "data" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(name)
    return tmp_path / "data"


def test_a_folders_content_lands_in_the_target(
    workspace: Workspace, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = workspace.get_default_datastore()
    reference = store.upload(str(folder), "./../up", overwrite=True)
    assert (reference.path_on_datastore, reference.mode) == ("./../up", "mount")
    assert "Uploaded 3 files" in capsys.readouterr().out
    assert store.download(str(tmp_path / "here"), prefix="up", show_progress=False) == 3
    assert (tmp_path / "here/up/sub/b.txt").read_text() == "sub/b.txt"
    assert (tmp_path / "here/up/.hidden").exists()
    assert capsys.readouterr().out == ""
    assert store.download(str(tmp_path / "here"), prefix="up") == 0, "what is there is not counted"
    (tmp_path / "here/up/a.txt").write_text("mine")
    assert store.download(str(tmp_path / "here"), prefix="up/a", overwrite=True) == 1, "a prefix ends anywhere"
    assert (tmp_path / "here/up/a.txt").read_text() == "a.txt"
    assert store.download(str(tmp_path / "there"), prefix="nothing") == 0


def test_names_that_are_no_text_go_up_and_come_back(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = os.fsdecode(b"\xe9t\xe9")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / name).write_text("1")
    store = workspace.get_default_datastore()
    store.upload(str(tmp_path / "data"), "latin", show_progress=True)
    assert store.download(str(tmp_path / "here"), "latin") == 1
    assert (tmp_path / "here" / "latin" / name).read_text() == "1"
    dataset = Dataset.File.from_files((store, "latin/**"))
    assert dataset.to_path() == [f"/{name}"]
    assert dataset.download(str(tmp_path / "there")) == [str(tmp_path / "there" / name)]
    assert "\\udce9t\\udce9, 1 files" in capsys.readouterr().out


def test_what_is_there_is_skipped_unless_it_is_overwritten(
    workspace: Workspace, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = workspace.get_default_datastore()
    store.upload(str(folder), "skips", show_progress=False)
    (folder / "a.txt").write_text("changed")
    store.upload(str(folder), "skips")
    assert "skips/a.txt is there already, and is skipped" in capsys.readouterr().out
    store.download(str(tmp_path / "one"), "skips/a.txt")
    assert (tmp_path / "one/skips/a.txt").read_text() == "a.txt"
    store.upload(str(folder), "skips", overwrite=True)
    store.download(str(tmp_path / "two"), "skips/a.txt")
    assert (tmp_path / "two/skips/a.txt").read_text() == "changed"


def test_files_go_below_the_folder_that_they_share(workspace: Workspace, folder: Path, tmp_path: Path) -> None:
    store = workspace.get_default_datastore()
    store.upload_files([str(folder / "sub" / "b.txt")], target_path="files/one")
    store.upload_files([str(folder / "a.txt"), str(folder / "sub" / "b.txt")], target_path="files/two")
    store.upload_files([str(folder / "a.txt")], relative_root=str(tmp_path), target_path="files/three")
    assert store.download(str(tmp_path / "here"), "files/") == 4
    found = sorted(each.relative_to(tmp_path / "here/files").as_posix() for each in (tmp_path / "here").rglob("*.txt"))
    assert found == ["one/b.txt", "three/data/a.txt", "two/a.txt", "two/sub/b.txt"]


def test_what_is_no_folder_or_file_is_refused(workspace: Workspace, folder: Path, tmp_path: Path) -> None:
    store = workspace.get_default_datastore()
    with pytest.raises(UserErrorException, match="is no folder"):
        store.upload(str(folder / "a.txt"))
    for files in ("a.txt", [str(folder)], [str(folder / "nothing")]):
        with pytest.raises(UserErrorException):
            store.upload_files(files)
    with pytest.raises(UserErrorException, match="not below"):
        store.upload_files([str(folder / "a.txt")], relative_root=str(folder / "sub"))


def test_references_name_the_datastore_or_a_path_in_it(workspace: Workspace) -> None:
    store = workspace.get_default_datastore()
    for whole in (None, ".", "./", "/"):
        assert str(store.path(whole)) == "$AZUREML_DATAREFERENCE_workspaceblobstore"
    assert store.path("a").path("b").path_on_datastore == "a/b"
    assert store.as_download("/x").mode == "download"
    assert store.as_upload().mode == "upload"
    assert store.as_mount().mode == "mount"
    assert '"account_name": "runyard"' in str(store)
