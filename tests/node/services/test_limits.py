"""Limits of a replica: what the machine can hold is held, and what it cannot is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runyard.node.services.limits import Limits, resident

SHOW = "import os; print(len(os.sched_getaffinity(0)))"


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core cannot be divided")
def test_cores_are_held_by_affinity_where_there_is_no_group(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    limits = Limits("mine", 0.5, 1 << 30, root=tmp_path / "none")
    done = subprocess.run([sys.executable, "-c", SHOW], preexec_fn=limits.enter(), capture_output=True, check=True)
    assert int(done.stdout) == 1, "a part of a core counts as a whole one"
    assert not limits.held_by_kernel
    said = capfd.readouterr().out
    assert "affinity" in said
    assert "1024 MB" in said
    limits.close()


def test_a_plain_folder_is_taken_for_no_control_group(tmp_path: Path) -> None:
    """Where the groups of version 1 are, theirs is a folder in memory: what is written into it limits nobody."""
    limits = Limits("mine", 1, 1 << 30, root=tmp_path)
    assert not limits.held_by_kernel
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_limited_where_nothing_was_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    assert Limits("mine", None, None).enter() is None
    assert capfd.readouterr().out == ""


def test_memory_is_that_of_all_processes() -> None:
    assert resident({os.getpid()}) > 1 << 20
    assert resident({2**30}) == 0
