"""`runyard data cache`: what was fetched is listed, and goes when it is told to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.web_files import web_files

from azureml.core import Dataset, Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell


def test_it_is_listed_and_removed(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.call("data", "maps")  # the server runs
    monkeypatch.setenv("RUNYARD_HOME", str(shell.home))
    monkeypatch.chdir(shell.folder)
    with web_files(a=b"12345") as web:
        dataset = Dataset.File.from_files(f"{web.url}/a")
        dataset._saved(Workspace.from_config())
        dataset.download(str(tmp_path / "one"))
        asked = len([each for each in web.requests if each[0] == "GET"])
        dataset.download(str(tmp_path / "two"))
        assert len([each for each in web.requests if each[0] == "GET"]) == asked, "the second comes from the cache"
    assert (tmp_path / "two" / "a").read_bytes() == b"12345"
    ours = [each for each in shell.json("data", "cache", "ls") if each["address"] == f"{web.url}/a"]
    assert (ours[0]["stored"], ours[0]["used"]) == (5, False)
    assert f"{web.url}/a" in shell.call("data", "cache", "ls").stdout
    assert "1 file" in shell.call("data", "cache", "gc", "--limit", "0").stdout
    assert shell.json("data", "cache", "ls") == []
    assert shell.json("data", "cache", "gc", "--unused-for", "1d") == []
    assert "Nothing is in" in shell.call("data", "cache", "ls").stdout
