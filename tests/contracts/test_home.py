"""A home folder says which server runs there and what opens it, and says neither on the word of a stranger."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from tests.support.bad_json import every_bad_text

from runyard.contracts import home as homes
from runyard.contracts.home import Running


def test_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    for value in ("", None):
        monkeypatch.delenv("RUNYARD_HOME", raising=False)
        if value is not None:
            monkeypatch.setenv("RUNYARD_HOME", value)
        assert homes.home() == tmp_path / "me" / ".runyard"
    monkeypatch.setenv("RUNYARD_HOME", "yard")
    assert homes.home() == tmp_path / "yard"
    monkeypatch.setenv("RUNYARD_HOME", "~/yard")
    assert homes.home() == tmp_path / "me" / "yard"


def test_the_server_that_runs(tmp_path: Path) -> None:
    assert homes.read_server(tmp_path) is None
    fields = {"url": "http://127.0.0.1:7420", "pid": 7, "version": "1", "started": "12", "of_later": True}
    homes.write_private(homes.server_file(tmp_path), json.dumps(fields))
    assert homes.read_server(tmp_path) == Running("http://127.0.0.1:7420", 7, "1", "12")


@every_bad_text
def test_a_damaged_file_is_no_server(tmp_path: Path, text: bytes) -> None:
    homes.server_file(tmp_path).write_bytes(text)
    assert homes.read_server(tmp_path) is None


def test_the_token(tmp_path: Path) -> None:
    assert homes.read_token(tmp_path) is None
    homes.write_private(tmp_path / "token", "secret\n")
    assert homes.read_token(tmp_path) == "secret"
    for damaged in (b"", b" \n", b"\xff\xfe"):
        (tmp_path / "token").write_bytes(damaged)
        assert homes.read_token(tmp_path) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_files_of_a_stranger_do_not_count(tmp_path: Path) -> None:
    homes.write_private(tmp_path / "token", "theirs")
    homes.write_private(homes.server_file(tmp_path), json.dumps({"url": "http://x", "pid": 7, "version": "1"}))
    for name in ("token", "server.json"):
        os.chown(tmp_path / name, 65_534, -1)
    assert homes.read_token(tmp_path) is None
    assert homes.read_server(tmp_path) is None
    os.chown(tmp_path, 65_534, -1)
    assert homes.read_token(tmp_path) == "theirs"


def test_private_files_are_written_whole_for_the_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "made" / "secret"
    homes.write_private(path, "one")
    homes.write_private(path, "zwei ü")
    assert path.read_text("utf-8") == "zwei ü"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0
    assert os.listdir(path.parent) == ["secret"]


def test_a_link_in_the_place_of_a_private_file_is_replaced(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("theirs")
    (tmp_path / "token").symlink_to(elsewhere)
    homes.write_private(tmp_path / "token", "mine")
    assert elsewhere.read_text() == "theirs"
    assert not (tmp_path / "token").is_symlink()
