"""Processes of this machine: whether one is alive, and how a child is tied to its parent.

Process ids are reused, start times are not: both together identify a process.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import lru_cache
from typing import Callable

from runyard.system.files import content

_PR_SET_PDEATHSIG = 1


def started(pid: int) -> str | None:
    """When a process was started, in a form that is only good for comparing; None when it has ended.

    A zombie, which has ended but was not yet reaped by its parent, has ended.
    """
    if os.path.isdir("/proc/self"):
        return _from_proc(pid)
    return _from_ps(pid)


def alive(pid: int, start: str | None = None) -> bool:
    """Whether the process is alive; with `start`, whether it is also the one that was started then."""
    now = started(pid)
    return now is not None and start in (None, now)


def end_with_parent() -> Callable[[], None] | None:
    """A step for a child between fork and exec: the kernel will kill it when this process dies (Linux)."""
    call = prctl()
    if call is None:
        return None
    parent, deadly = os.getpid(), signal.SIGKILL.value  # looked up here: all that a child touches is copied for it

    def step() -> None:
        call(_PR_SET_PDEATHSIG, deadly)
        if os.getppid() != parent:  # it died before the kernel knew
            os._exit(1)

    return step


def hear_of_parents_end(number: signal.Signals) -> None:
    """Have the kernel send this process a signal when its parent dies, instead of killing it (Linux)."""
    call = prctl()
    if call is not None:
        call(_PR_SET_PDEATHSIG, number.value)


@lru_cache(maxsize=1)
def prctl() -> Callable[[int, int], object] | None:
    """Linux's system call of that name; None elsewhere."""
    if sys.platform != "linux":
        return None
    import ctypes

    function = ctypes.CDLL(None, use_errno=True).prctl
    return lambda option, value: function(option, ctypes.c_ulong(value), 0, 0, 0)


def _from_proc(pid: int) -> str | None:
    try:
        text = content(f"/proc/{pid}/stat").decode("utf-8", "replace")
    except OSError:
        return None
    # The command's name is in brackets and may hold anything, brackets included: read from the last one on.
    state, *fields = text[text.rindex(")") + 1 :].split()
    return None if state in ("Z", "X") else fields[18]


def _from_ps(pid: int) -> str | None:
    import subprocess

    listed = subprocess.run(["ps", "-o", "state=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _, start = listed.stdout.strip().partition(" ")
    return start.strip() or None if state and not state.startswith("Z") else None
