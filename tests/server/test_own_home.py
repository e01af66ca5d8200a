"""If these fail, another user of the machine can get into a server by what they put into its home folder."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.contracts import home as homes
from runyard.server import own_home

if TYPE_CHECKING:
    from tests.server.conftest import Start

STRANGER = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="giving a file to another user needs root")


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_a_folder_that_others_could_write_to_is_closed(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    own_home.check(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == mode & ~0o022


@as_root
def test_a_token_that_somebody_else_planted_lets_nobody_in(start: Start, home: Path) -> None:
    home.chmod(0o777)
    planted = home / "token"
    planted.write_text("a token that the stranger knows\n")
    os.chown(planted, STRANGER, STRANGER)
    assert homes.read_token(home) is None
    code, said = start().wait()
    assert code == 7
    assert f"{planted} was put there by" in said
    assert "chown" in said
    planted.unlink()
    client = start().ready()
    assert client.token != "a token that the stranger knows"
    assert stat.S_IMODE(home.stat().st_mode) == 0o755


@as_root
@pytest.mark.parametrize("name", ["secret", "runyard.db", "environments", "sdk", "server.lock", "anything"])
def test_nothing_of_another_user_is_used(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("/nowhere")
    own_home.check(tmp_path)
    os.chown(tmp_path / name, STRANGER, STRANGER, follow_symlinks=False)
    with pytest.raises(own_home.Shared, match=f"{name} was put there by"):
        own_home.check(tmp_path)


@as_root
def test_a_home_of_another_user_is_refused(tmp_path: Path) -> None:
    os.chown(tmp_path, STRANGER, STRANGER)
    with pytest.raises(own_home.Shared, match=r"belongs to .*, not to root"):
        own_home.check(tmp_path)


@as_root
def test_a_client_does_not_follow_a_strangers_address(tmp_path: Path) -> None:
    file = homes.server_file(tmp_path)
    file.write_text(json.dumps({"url": "http://127.0.0.1:1", "pid": os.getpid(), "version": "1"}))
    assert homes.read_server(tmp_path) is not None
    os.chown(file, STRANGER, STRANGER)
    assert homes.read_server(tmp_path) is None
    os.chown(tmp_path, STRANGER, STRANGER)  # somebody looks after another user's home
    assert homes.read_server(tmp_path) is not None
