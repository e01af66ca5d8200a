from __future__ import annotations

from pathlib import Path

import pytest

from runyard.server import settings
from runyard.server.settings import BadSettings


def test_defaults_are_the_users_home_and_whatever_was_there_the_last_time() -> None:
    found = settings.read([], {})
    assert found.home == Path("~/.runyard").expanduser()
    assert (found.host, found.port, found.database_url, found.token) == (None, None, None, "")


def test_the_command_line_wins_over_the_environment(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-the-file\n")
    environment = {
        "RUNYARD_HOME": str(tmp_path),
        "RUNYARD_HOST": "10.0.0.1",
        "RUNYARD_PORT": "1000",
        "RUNYARD_DATABASE_URL": "sqlite:////a",
        "RUNYARD_TOKEN": "from-the-environment",
    }
    found = settings.read([], environment)
    assert (found.home, found.host, found.port) == (tmp_path, "10.0.0.1", 1000)
    assert (found.database_url, found.token) == ("sqlite:////a", "from-the-environment")
    said = [
        "--host",
        "::1",
        "--port",
        "2000",
        "--database-url",
        "sqlite:////b",
        "--token-file",
        str(tmp_path / "token"),
    ]
    found = settings.read(said, environment)
    assert (found.host, found.port, found.database_url, found.token) == ("::1", 2000, "sqlite:////b", "from-the-file")


@pytest.mark.parametrize("port", ["http", "-1", "65536", "7_420", "٧"])
def test_what_is_no_port_is_named(port: str) -> None:
    with pytest.raises(BadSettings, match="not a port"):
        settings.read([], {"RUNYARD_PORT": port})


def test_a_token_file_must_hold_a_token(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text(" \n")
    with pytest.raises(BadSettings, match="is empty"):
        settings.read(["--token-file", str(empty)], {})
    with pytest.raises(BadSettings, match="cannot be read"):
        settings.read(["--token-file", str(tmp_path / "none")], {})


@pytest.mark.parametrize(
    ("host", "closed"),
    [
        *((host, True) for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost")),
        *((host, False) for host in ("0.0.0.0", "::", "192.168.1.5", "gpu-box", "")),
    ],
)
def test_loopback_is_told_from_what_others_reach(host: str, closed: bool) -> None:
    assert settings.is_loopback(host) is closed
