"""How a process ended, as text, and whether the kernel was short of memory meanwhile."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any, Mapping, NamedTuple

from runyard.system.files import content

COUNTED_FOR = 1.0  # seconds for which a count of what the kernel has killed is good enough to begin with

_counted: tuple[float, int] | None = None  # when, by time.monotonic(), and how many


class Exit(NamedTuple):
    """Exactly one of the two is set."""

    code: int | None
    signal: int | None

    @property
    def ok(self) -> bool:
        return self.code == 0


def from_wait_status(status: int) -> Exit:
    """The exit for a status of `os.waitpid`."""
    if os.WIFSIGNALED(status):
        return Exit(None, os.WTERMSIG(status))
    return Exit(os.WEXITSTATUS(status), None)


def signal_name(number: int) -> str:
    """
    >>> signal_name(9)
    'SIGKILL'
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def words(exit: Exit, out_of_memory: bool = False, because: str = "") -> str:
    """The exit as text for a person; `because` is why the node runner ended the process, if it did.

    >>> words(Exit(3, None))
    'exit code 3'
    >>> words(Exit(None, 9))
    'killed by SIGKILL (signal 9)'
    """
    number = exit.signal
    if number is not None:
        name = signal_name(number)
        if because and number in (signal.SIGTERM, signal.SIGKILL):
            return f"ended by {name} because {because}"
        if number == signal.SIGKILL and out_of_memory:
            return "killed by SIGKILL: likely out of memory"
        return f"killed by {name} (signal {number})"
    code = exit.code or 0
    if 128 < code < 128 + signal.NSIG:  # a shell's exit code for a command that was killed
        inner = words(Exit(None, code - 128), out_of_memory, because)
        return f"exit code {code} (a command in it was {inner})"
    return f"exit code {code}"


def as_fields(exit: Exit, text: str) -> dict[str, Any]:
    """The `exit` of a run's error, in the form of the protocol."""
    return {"code": exit.code, "signal": exit.signal, "words": text}


def killed_by(exit: Exit) -> int | None:
    """The signal that ended the process, or the last command of the shell that it was."""
    if exit.signal is None and exit.code is not None and 128 < exit.code < 128 + signal.NSIG:
        return exit.code - 128
    return exit.signal


def killed_by_fields(error: Mapping[str, Any] | None) -> int | None:
    """The same for the process that an error of a run is about; None when it is about none."""
    fields = (error or {}).get("exit")
    return killed_by(Exit(fields["code"], fields["signal"])) if fields else None


def memory_kills(root: Path = Path("/")) -> int:
    """How often the kernel has ended a process for lack of memory, as far as can be seen from here.

    Counts grow only: compare before and after. `root` is where /proc and /sys are.
    """
    top = str(root).rstrip("/")
    counts = [_count(f"{top}/proc/vmstat")]
    for line in _lines(f"{top}/proc/self/cgroup"):
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        below = path.lstrip("/")
        if not controllers:
            for mount in ("sys/fs/cgroup", "sys/fs/cgroup/unified"):
                counts.append(_count(f"{top}/{mount}/{below}/memory.events"))
        elif "memory" in controllers.split(","):
            counts.append(_count(f"{top}/sys/fs/cgroup/memory/{below}/memory.oom_control"))
    return sum(counts)


def memory_kills_before() -> int:
    """The same, as it was a moment ago: where many runners begin one after the other, who forks them counts for all."""
    global _counted
    now = time.monotonic()
    if _counted is None or now - _counted[0] > COUNTED_FOR:
        _counted = now, memory_kills()
    return _counted[1]


def _count(path: str) -> int:
    for line in _lines(path):
        if line.startswith("oom_kill "):
            value = line[9:].strip()
            return int(value) if value.isdigit() else 0
    return 0


def _lines(path: str) -> list[str]:
    try:
        return content(path).decode("utf-8", "replace").splitlines()
    except OSError:
        return []  # not Linux, or not that kind of control group
