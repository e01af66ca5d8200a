"""A process id alone does not tell a process: its start time does."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from runyard.system import processes


def test_a_process_is_known_by_its_start() -> None:
    start = processes.started(os.getpid())
    assert start is not None
    assert processes.alive(os.getpid(), start)
    assert not processes.alive(os.getpid(), f"{start}0")


def test_a_process_that_ended_is_gone_even_before_it_is_fetched() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    deadline = time.monotonic() + 20
    while processes.alive(child.pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert child.wait() == 0


def test_no_process_has_this_id() -> None:
    assert processes.started(2**22 + 1) is None
