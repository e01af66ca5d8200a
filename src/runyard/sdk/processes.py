"""Telling whether a process is still the one that was meant: process ids are used again, their start times are not."""

from __future__ import annotations

import os
from pathlib import Path


def started(pid: int) -> str | None:
    """When a process was started, as this machine tells it (only good for comparing); None when it is gone.

    A process that has ended but was not yet fetched by its parent counts as gone.
    """
    if os.path.isdir("/proc/self"):
        return _from_proc(pid)
    return _from_ps(pid)


def alive(pid: int, start: str | None = None) -> bool:
    """Whether the process lives; with `start`, whether it is the one that was started then."""
    now = started(pid)
    return now is not None and start in (None, now)


def _from_proc(pid: int) -> str | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The command's name stands in brackets and may hold anything, brackets included: read from the last one on.
    state, *fields = text[text.rindex(")") + 1 :].split()
    return None if state in ("Z", "X") else fields[18]


def _from_ps(pid: int) -> str | None:
    import subprocess

    asked = subprocess.run(["ps", "-o", "state=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _, start = asked.stdout.strip().partition(" ")
    return start.strip() or None if state and not state.startswith("Z") else None
