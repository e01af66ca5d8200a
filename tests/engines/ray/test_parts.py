"""What the Ray engine is made of and can be tried without a cluster: the tether, addresses, and requests in words."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from runyard.contracts.compute import Resources
from runyard.engines.base import EngineAway, EngineError
from runyard.engines.ray import tether
from runyard.engines.ray.line import Line
from runyard.engines.ray.request import Address, Seen, able, bundle_of, inventory, wish

DEADLINE = 60.0

WORKER = """
import os, subprocess, sys
text, *command = sys.argv[1:]
process = subprocess.Popen([sys.executable, "-I", "-S", "-c", text, str(os.getpid()), *command], start_new_session=True)
print(process.pid, flush=True)
sys.exit(process.wait() % 256)
"""
"""Stands for a worker of Ray: starts a tether, and waits for it."""

RUNNER = """
import pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
def stop(*_):
    (folder / "stopped").touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
(folder / "there").touch()
while True:
    time.sleep(0.05)
"""


def started(*command: str) -> subprocess.Popen[str]:
    text = Path(tether.__file__).read_text("utf-8")
    return subprocess.Popen([sys.executable, "-c", WORKER, text, *command], stdout=subprocess.PIPE, text=True)


def wait_until(done: Callable[[], object]) -> None:
    until = time.monotonic() + DEADLINE
    while not done():
        assert time.monotonic() < until, "waited for too long"
        time.sleep(0.02)


@pytest.mark.parametrize("killed", ["worker", "tether"])
def test_a_runner_whose_worker_is_killed_is_asked_to_stop(killed: str, tmp_path: Path) -> None:
    with started(sys.executable, "-c", RUNNER, str(tmp_path)) as worker:
        assert worker.stdout is not None
        between = psutil.Process(int(worker.stdout.readline()))
        wait_until((tmp_path / "there").exists)
        (runner,) = between.children()
        (worker if killed == "worker" else between).kill()
        wait_until((tmp_path / "stopped").exists)
        wait_until(lambda: not runner.is_running())
        wait_until(lambda: not between.is_running() or between.status() == psutil.STATUS_ZOMBIE)


def test_a_stop_is_passed_on(tmp_path: Path) -> None:
    with started(sys.executable, "-c", RUNNER, str(tmp_path)) as worker:
        assert worker.stdout is not None
        between = psutil.Process(int(worker.stdout.readline()))
        wait_until((tmp_path / "there").exists)
        between.terminate()
        assert worker.wait(DEADLINE) == 0
        assert (tmp_path / "stopped").exists()


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -KILL $$", 256 - 9), ("kill -TERM $$", 256 - 15)])
def test_it_ends_as_the_command_has_ended(script: str, code: int) -> None:
    with started("/bin/sh", "-c", script) as worker:
        assert worker.wait(DEADLINE) == code


def test_addresses() -> None:
    assert str(Address.parse("head")) == "head:6379"
    assert str(Address.parse("ray://head")) == "ray://head:10001"
    assert str(Address.parse("[::1]:7000")) == "[::1]:7000"
    with pytest.raises(EngineError, match="ray://HOST:10001 when it is not"):
        Address.parse("http://head:8265/jobs")


def test_a_node_asks_for_a_cpu_at_least_and_for_what_vm_size_stands_for() -> None:
    assert bundle_of(Resources(), {}) == {"CPU": 1.0}
    asked = bundle_of(Resources(cores=6, memory_mb=1000, gpus=1), {"special": 0.5})
    assert asked == {"CPU": 6.0, "GPU": 1.0, "memory": 600.0 * 2**20, "special": 0.5}
    assert wish(1, asked) == "1 node with 6 CPUs, 1 GPU, 1 GiB of memory and 0.5 of special"


def test_nodes_are_told_apart_by_what_they_have() -> None:
    nodes: list[Seen] = [{"has": {"CPU": 4.0}}, {"has": {"CPU": 4.0}}, {"has": {"CPU": 8.0, "GPU": 1.0}}, {"has": {}}]
    assert able(nodes, {"CPU": 4.0, "GPU": 1.0}) == [nodes[2]]
    assert inventory(nodes) == "It has 2 with 4 CPUs; 1 with 8 CPUs and 1 GPU; 1 with 0 CPUs."
    assert inventory([]) == "It has no nodes now."


def test_a_driver_that_cannot_be_started_or_ends_at_once_says_so(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="/no/python: No such file"):
        Line("/no/python", {}, {}, lambda line, said: None)
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'the disk is on fire' >&2\nexit 5\n", "utf-8")
    broken.chmod(0o755)
    line = Line(str(broken), {}, {}, lambda line, said: None)
    with pytest.raises(EngineAway, match="the disk is on fire"):
        line.await_ready()
    assert not line.alive
    with pytest.raises(EngineAway, match="the disk is on fire"):
        line.ask("nodes")
