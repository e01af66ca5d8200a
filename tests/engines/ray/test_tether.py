"""If these fail, the processes of a run stay on a node of a Ray cluster when their worker is killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from runyard.engines.ray import tether

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
