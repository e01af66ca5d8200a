from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from runyard.node.outcome import exits
from runyard.node.outcome.exits import Exit


@pytest.mark.parametrize(
    ("exit", "out_of_memory", "because", "text"),
    [
        (Exit(0, None), False, "", "exit code 0"),
        (Exit(3, None), False, "", "exit code 3"),
        (Exit(None, 9), False, "", "killed by SIGKILL (signal 9)"),
        (Exit(None, 9), True, "", "killed by SIGKILL: likely out of memory"),
        (Exit(None, 11), True, "", "killed by SIGSEGV (signal 11)"),
        (Exit(None, 15), False, "the run was cancelled", "ended by SIGTERM because the run was cancelled"),
        (Exit(None, 9), True, "the run was cancelled", "ended by SIGKILL because the run was cancelled"),
        (Exit(1, None), False, "the run was cancelled", "exit code 1"),
        (Exit(137, None), True, "", "exit code 137 (a command in it was killed by SIGKILL: likely out of memory)"),
        (Exit(143, None), False, "", "exit code 143 (a command in it was killed by SIGTERM (signal 15))"),
        (Exit(255, None), False, "", "exit code 255"),
    ],
)
def test_words(exit: Exit, out_of_memory: bool, because: str, text: str) -> None:
    assert exits.words(exit, out_of_memory, because) == text


@pytest.mark.parametrize(
    ("script", "exit"),
    [("exit(7)", Exit(7, None)), ("import os; os.kill(os.getpid(), 9)", Exit(None, 9))],
)
def test_a_real_process(script: str, exit: Exit) -> None:
    import os

    process = subprocess.Popen([sys.executable, "-c", script])
    _, status = os.waitpid(process.pid, 0)
    process.returncode = status
    assert exits.from_wait_status(status) == exit


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_memory_kills_are_counted_wherever_the_kernel_tells_them(tmp_path: Path) -> None:
    assert exits.memory_kills(tmp_path) == 0
    _write(tmp_path / "proc/vmstat", "nr_free_pages 1\noom_kill 2\n")
    assert exits.memory_kills(tmp_path) == 2
    _write(tmp_path / "proc/self/cgroup", "9:memory:/job/1\n0::/slice/app.scope\n")
    _write(tmp_path / "sys/fs/cgroup/memory/job/1/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 30\n")
    _write(tmp_path / "sys/fs/cgroup/slice/app.scope/memory.events", "low 0\nmax 7\noom 5\noom_kill 400\n")
    assert exits.memory_kills(tmp_path) == 432


def test_this_machine_can_be_asked() -> None:
    assert exits.memory_kills() >= 0
