"""The processes of a run together: one that is missed would hide who took the memory."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from runyard.node.observing.members import Members

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")

MIB = 1 << 20
HOLDS = "import sys; held = bytearray(b'x') * (40 << 20); print('ready', flush=True); sys.stdin.read()"
FAMILY = f"""
import subprocess, sys, threading
def more():
    child = subprocess.Popen([sys.executable, "-c", {HOLDS!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.readline()
    print("ready", flush=True)
    sys.stdin.read()
    child.communicate()
thread = threading.Thread(target=more)
thread.start()
thread.join()
"""


def test_grandchildren_that_a_thread_has_started_count_and_those_that_are_spared_do_not() -> None:
    spared = subprocess.Popen([sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    family = subprocess.Popen([sys.executable, "-c", FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        for each in (spared, family):
            assert each.stdout is not None
            assert each.stdout.readline() == b"ready\n"
        of_family = Members(family.pid).look()
        assert of_family.processes == 1  # without the one that they are below
        assert 40 * MIB < of_family.memory < 120 * MIB
        assert of_family.busy > 0
        mine = Members(os.getpid(), {spared.pid})
        mine.look()
        assert family.pid in mine.pids
        assert spared.pid not in mine.pids
        assert mine.look().busy >= 0
    finally:
        for each in (spared, family):
            each.communicate()
    assert Members(family.pid).look() == (0, 0, 0.0, 0, 0)
