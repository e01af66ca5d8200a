"""A tool that cannot be stopped, or whose last words get lost, leaves a build that hangs, or that says nothing."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import psutil
import pytest

from runyard.environments import command
from runyard.system.processes import alive


class Enough(Exception):
    pass


def never() -> None:
    return None


def test_lines_come_as_they_are_written(tmp_path: Path) -> None:
    lines: list[str] = []
    script = "import os, sys; print('out'); print('err', file=sys.stderr); print(os.getcwd()); print('é', end='')"
    done = command.run([sys.executable, "-u", "-c", script], lines.append, never, folder=tmp_path)
    assert done.ok
    assert lines == ["out", "err", str(tmp_path), "é"]
    assert done.output.splitlines() == lines


def test_progress_bars_become_lines() -> None:
    lines: list[str] = []
    command.run([sys.executable, "-c", r"print('1%\r2%\r\n3%')"], lines.append, never)
    assert [line for line in lines if line] == ["1%", "2%", "3%"]


def test_an_exit_code_is_told() -> None:
    assert command.run([sys.executable, "-c", "raise SystemExit(7)"], print, never).code == 7


def test_giving_up_ends_the_tool_and_what_it_started() -> None:
    pids: list[int] = []
    script = (
        "import signal, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )

    def check() -> None:
        if pids:
            raise Enough

    with pytest.raises(Enough):
        command.run([sys.executable, "-c", script], lambda line: pids.append(int(line)), check)
    deadline = time.monotonic() + 60
    while alive(pids[0]):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_tool_that_leaves_somebody_with_its_pipe_still_ends() -> None:
    script = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "print(child.pid)\n"
    )
    lines: list[str] = []
    done = command.run([sys.executable, "-c", script], lines.append, never)
    psutil.Process(int(lines[0])).kill()
    assert done.ok
