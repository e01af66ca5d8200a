"""What wakes the thread that delivers: others in its process, and the processes of the run, which ask for a flush.

It is a named pipe in the telemetry folder (`runyard.contracts.journal`), so that a script that waits for what it logged
need not wait for the next delivery that is due anyway.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from runyard.contracts.journal import FLUSH, WAKE

_LOOK = b"\0"  # of this process: something is to be looked at, which need not be delivered at once


def make_pipe(telemetry: Path) -> None:
    """Make the pipe of a telemetry folder, unless a former process has. Where there can be none, on a file system that
    has no pipes or no room, a flush takes as long as the pace is."""
    with suppress(OSError):
        os.mkfifo(telemetry / WAKE, 0o666)


class Wake:
    """With the folder's pipe, if it has one."""

    def __init__(self, telemetry: Path) -> None:
        self._descriptors = _open(str(telemetry / WAKE)) or os.pipe()
        for descriptor in self._descriptors:
            os.set_blocking(descriptor, False)

    def fileno(self) -> int:
        """Can be read once somebody has called `set` or asked for a flush."""
        return self._descriptors[0]

    def set(self) -> None:
        """May be called from any thread."""
        with suppress(BlockingIOError):  # it is full, so somebody is awake already
            os.write(self._descriptors[1], _LOOK)

    def clear(self) -> bool:
        """Forget what came so far; True when a process of the run asked for a flush."""
        try:
            return FLUSH in os.read(self._descriptors[0], 1 << 16)
        except BlockingIOError:
            return False

    def close(self) -> None:
        for descriptor in set(self._descriptors):
            os.close(descriptor)


def _open(path: str) -> tuple[int, int] | None:
    """The pipe of that name, open at both ends, so that it is never at its end; None when there is none."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return descriptor, descriptor
    os.close(descriptor)
    return None
