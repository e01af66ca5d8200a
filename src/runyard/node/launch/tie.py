"""What ties a script to its node runner: the kernel kills the one when the other dies (Linux).

Only the new process itself can ask for that. A step of Python between fork and exec does (`end_with_parent`), but to
copy this process for it costs several times what the start of a small program does. So where `setpriv` of util-linux is
there, it is started without a copy (`vfork`), asks, and becomes the script. Should the runner die before it has asked,
whoever comes to deliver what is left finds the script by its cookie, and ends it.
"""

from __future__ import annotations

import subprocess
from typing import Callable, NamedTuple

from runyard.system.processes import end_with_parent

SETPRIV = "/usr/bin/setpriv"
_ASKS = [SETPRIV, "--pdeathsig", "KILL", "--"]
_PROGRAM = b"\x7fELF"

_there = False


class Tie(NamedTuple):
    """What comes before the arguments of a program, or what is done before it begins."""

    before: list[str]
    step: Callable[[], None] | None


def look() -> None:
    """Find out whether `setpriv` is there and can ask. Until then it is not used."""
    global _there
    try:
        done = subprocess.run([*_ASKS, SETPRIV, "--version"], capture_output=True, timeout=10, check=False)
        _there = done.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        _there = False


def tie(program: str) -> Tie:
    """How to start a program. What the kernel might refuse to start is not left to `setpriv`, which could only exit."""
    return Tie(_ASKS, None) if _there and _is_program(program) else Tie([], end_with_parent())


def _is_program(path: str) -> bool:
    try:
        with open(path, "rb", buffering=0) as file:
            return path.startswith("/") and file.read(len(_PROGRAM)) == _PROGRAM
    except OSError:
        return False
