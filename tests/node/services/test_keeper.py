"""A replica beside a real node runner: its process is started anew, found by a successor, and drained at the end."""

from __future__ import annotations

import os
import resource
import signal
import socket
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from tests.support.waiting import wait_until

from runyard.contracts.services.plan import ServicePlan
from runyard.contracts.services.settings import Settings

if TYPE_CHECKING:
    from tests.node.conftest import Node

Prepare = Callable[..., "Node"]

SCORE = "import os\ndef init():\n    pass\n\ndef run(data):\n    return os.getpid()\n"


def replica(node: Prepare, folder: Path, script: str) -> tuple[Node, int]:
    """The folder of a replica, and its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    place = folder / "service"
    told = ServicePlan(
        "mine", str(place), str(place / "listener"), 1, "127.0.0.1", port, Settings(), entry_script="score.py"
    )
    return node({"score.py": script}, script=None, service=told.as_dict()), port


def score(port: int) -> int:
    """The process that answers; 0 when none does."""
    request: Any = urllib.request.Request(f"http://127.0.0.1:{port}/score", b"{}")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.read())
    except OSError:
        return 0


def test_a_replica_outlives_its_process_and_its_runner_and_is_drained(node: Prepare, tmp_path: Path) -> None:
    made, port = replica(node, tmp_path, SCORE)
    runner = made.start()
    first = wait_until(lambda: score(port), "an answer")
    os.kill(first, signal.SIGKILL)
    second = wait_until(lambda: (pid := score(port)) != first and pid, "an answer of another process")
    runner.kill()
    runner.wait()
    assert score(port) == second, "nobody who calls it knows that its runner is gone"
    successor = made.start("--rescue")
    wait_until(lambda: "of the former runner goes on" in (made.folder / "streams/runner.log").read_text(), "adoption")
    assert score(port) == second
    successor.send_signal(signal.SIGTERM)
    assert made.wait()["error"]["code"] == "Canceled"
    assert score(port) == 0


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limits of other processes can be set on Linux alone")
def test_on_a_full_disk_its_process_is_started_anew_all_the_same(node: Prepare, tmp_path: Path) -> None:
    """A limit of 0 for files stands for the disk: each write to one fails, of the runner and of what it starts."""
    made, port = replica(node, tmp_path, SCORE)
    runner = made.start()
    first = wait_until(lambda: score(port), "an answer")
    supervisor = psutil.Process(first).parent()
    assert supervisor is not None
    resource.prlimit(runner.pid, resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    for process in (supervisor, psutil.Process(first)):
        process.kill()
    wait_until(lambda: score(port) not in (0, first), "an answer of another process")
    resource.prlimit(runner.pid, resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE))
    runner.send_signal(signal.SIGTERM)
    assert made.wait()["error"]["code"] == "Canceled"
    assert score(port) == 0


def test_where_its_socket_cannot_be_offered_the_cause_is_told(node: Prepare, tmp_path: Path) -> None:
    made, _ = replica(node, tmp_path, SCORE)
    (tmp_path / "service").write_text("a file where a folder should be")
    ended = made.finish()
    assert (ended["status"], ended["error"]["code"]) == ("Failed", "LaunchFailed")
    assert str(tmp_path / "service") in ended["error"]["message"]


def test_one_whose_script_cannot_start_is_given_up_with_the_line(node: Prepare, tmp_path: Path) -> None:
    made, _ = replica(node, tmp_path, "def init():\n    nothing_of_this_name\n\ndef run(data):\n    return 1\n")
    ended = made.finish()
    assert ended["status"] == "Failed"
    assert "nothing_of_this_name" in ended["error"]["message"]
