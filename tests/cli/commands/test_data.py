"""Datasets from the command line: found, read and downloaded, and an address that is gone is mapped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runyard.cli import errors
from runyard.sdk.data.dataset import Dataset
from runyard.sdk.workspace.workspace import Workspace

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_a_dataset_is_listed_mapped_downloaded_and_unregistered(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.call("data", "maps")  # the server runs
    monkeypatch.setenv("RUNYARD_HOME", str(shell.home))
    monkeypatch.chdir(shell.folder)
    kept = shell.folder / "kept"
    kept.mkdir()
    (kept / "a.txt").write_text("content")
    prefix = "http://gone.example/test_data/"
    made = Dataset.File.from_files(f"{prefix}a.txt").register(Workspace.from_config(), "test_data", "some text")
    assert "runyard data map" in shell.refusal("data", "files", "test_data", expect=errors.FAILED)["help"]
    assert shell.json("data", "map", prefix, "./kept")[prefix] == str(kept)
    assert prefix in shell.call("data", "maps").stdout
    assert "some text" in shell.call("data", "ls").stdout
    assert shell.json("data", "show", str(made.id))["name"] == "test_data"
    assert [each["path"] for each in shell.json("data", "files", "test_data")] == ["/a.txt"]
    assert shell.json("data", "get", "test_data", "--to", "here") == [str(shell.folder / "here" / "a.txt")]
    assert (shell.folder / "here" / "a.txt").read_text() == "content"
    assert prefix not in shell.json("data", "unmap", prefix)
    shell.refusal("data", "unmap", prefix, expect=errors.NOT_FOUND)
    shell.json("data", "rm", "test_data", "--yes")
    shell.refusal("data", "show", "test_data", expect=errors.NOT_FOUND)
