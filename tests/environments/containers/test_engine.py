"""Finding the container engine of a machine, and saying why there is none."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard.environments.containers import engine
from runyard.environments.problem import EnvironmentProblem


@pytest.fixture
def place() -> Iterator[Path]:
    """The path of a socket, short enough to be one, in a folder that anybody may enter."""
    with tempfile.TemporaryDirectory(prefix="yd", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder) / "s.sock"


def test_who_sets_docker_host_means_that_one() -> None:
    assert engine.addresses({"DOCKER_HOST": "tcp://far:1", "XDG_RUNTIME_DIR": "/x"}) == ["tcp://far:1"]


def test_docker_comes_before_podman() -> None:
    found = engine.addresses({"XDG_RUNTIME_DIR": "/run/user/7", "DOCKER_CONFIG": "/nonexistent"})
    assert found == [
        "unix:///var/run/docker.sock",
        "unix:///run/user/7/docker.sock",
        "unix:///run/user/7/podman/podman.sock",
        "unix:///run/podman/podman.sock",
    ]


def test_the_chosen_context_comes_first(tmp_path: Path) -> None:
    meta = tmp_path / "contexts/meta" / hashlib.sha256(b"desk").hexdigest()
    meta.mkdir(parents=True)
    (tmp_path / "config.json").write_text(json.dumps({"currentContext": "desk"}))
    (meta / "meta.json").write_text(json.dumps({"Endpoints": {"docker": {"Host": "unix:///desk.sock"}}}))
    assert engine.addresses({"DOCKER_CONFIG": str(tmp_path)})[0] == "unix:///desk.sock"


def test_no_engine_names_what_was_looked_for_and_the_ways_out(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{place}")
    assert not engine.in_sight()
    assert not engine.has_image("any")
    with pytest.raises(EnvironmentProblem) as caught:
        engine.open_engine()
    assert caught.value.code == "ContainerEngineMissing"
    assert f"unix://{place}: there is no such socket" in caught.value.message
    assert all(way in caught.value.help for way in ("Docker", "Podman", "DOCKER_HOST", "leave the image away"))


def test_a_socket_that_nobody_listens_at_is_told_apart(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(place))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{place}")
    with pytest.raises(EnvironmentProblem, match="nobody listens there"):
        engine.open_engine()


def test_something_else_that_listens_is_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with pytest.raises(EnvironmentProblem, match=r"tcp://127\.0\.0\.1:1: it does not answer"):
        engine.open_engine()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user who may not use the socket")
def test_a_socket_that_the_user_may_not_use_has_its_own_words(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{place}")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place))
        listening.listen()
        os.chmod(place, 0o600)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.setuid(65534)
            try:
                engine.open_engine()
            except EnvironmentProblem as problem:
                os.write(writing, f"{problem.message}\n{problem.help}".encode())
            finally:
                os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        with open(reading) as said:
            text = said.read()
    assert "user 65534 may not use it" in text
    assert "usermod -aG docker" in text
