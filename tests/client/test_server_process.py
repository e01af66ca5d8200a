"""One server per home: found, started once however many ask, started again after its death, and stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runyard.client.http import healthy
from runyard.client.server_process import ServerNotStarted, ensure_server, find_server, stop_server
from runyard.contracts import home as homes
from runyard.system import processes

pytestmark = pytest.mark.slow

ASK = (
    "from pathlib import Path; from runyard.client.server_process import ensure_server; "
    "print(ensure_server(Path({!r})))"
)


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 20
    while processes.alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_server_is_started_found_and_stopped(home: Path) -> None:
    assert find_server(home) is None
    url = ensure_server(home)
    assert healthy(url)
    assert ensure_server(home) == url
    running = find_server(home)
    assert running is not None
    assert stop_server(home)
    assert not processes.alive(running.pid)
    assert find_server(home) is None
    assert not stop_server(home)


def test_two_clients_at_the_same_moment_start_one_server(home: Path) -> None:
    asking = [
        subprocess.Popen([sys.executable, "-c", ASK.format(str(home))], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = {process.communicate(timeout=90)[0].strip() for process in asking}
    assert len(answers) == 1
    assert all(process.returncode == 0 for process in asking)
    assert (home / "server.log").read_text().count("serves") == 1


def test_a_server_that_was_killed_is_started_again(home: Path) -> None:
    ensure_server(home)
    running = homes.read_server(home)
    assert running is not None
    os.kill(running.pid, signal.SIGKILL)
    wait_until_gone(running.pid)
    assert find_server(home) is None
    assert healthy(ensure_server(home))


def test_a_server_that_cannot_start_says_why(home: Path) -> None:
    (home / "runyard.db").write_bytes(b"this is not a database" * 1000)
    with pytest.raises(ServerNotStarted) as caught:
        ensure_server(home)
    assert "It said:" in caught.value.title
    assert "runyard.db" in caught.value.title
    assert "runyard doctor" in caught.value.help


def test_a_home_that_cannot_be_made_says_which(home: Path) -> None:
    (home / "file").write_text("")
    with pytest.raises(ServerNotStarted, match="RUNYARD_HOME"):
        ensure_server(home / "file" / "home")


def test_a_stale_server_json_is_not_believed(home: Path) -> None:
    """The process id may belong to somebody else by now."""
    (home / "server.json").write_text(f'{{"url": "http://127.0.0.1:1", "pid": {os.getpid()}, "version": "0"}}')
    assert find_server(home) is None
    assert healthy(ensure_server(home))


def test_a_stranger_with_the_id_of_a_dead_server_is_neither_asked_nor_ended(home: Path) -> None:
    ensure_server(home)
    document = json.loads(homes.server_file(home).read_text())
    with subprocess.Popen(["sleep", "600"]) as stranger:
        try:
            found = {**document, "pid": stranger.pid}  # the port answers, as that of another user's server might
            homes.server_file(home).write_text(json.dumps(found))
            assert find_server(home) is None
            assert not stop_server(home)
            assert stranger.poll() is None
        finally:
            stranger.kill()
    homes.server_file(home).write_text(json.dumps(document))
    assert stop_server(home)
