"""What wakes the thread that delivers: others in its process, and the processes of the run, which ask for a flush.

Once it listens, it is a named pipe in the telemetry folder (`runyard.contracts.journal`), so that a script that waits
for what it logged need not wait for the next delivery that is due anyway. Until then it is a pipe of this process
alone: in most short runs nobody ever listens.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import partial
from pathlib import Path

from runyard.contracts.journal import FLUSH, WAKE

_LOOK = b"\0"  # of this process: something is to be looked at, which need not be delivered at once


class Wake:
    """A pipe that is never at its end, and that nobody waits to write to."""

    def __init__(self) -> None:
        self._descriptors = os.pipe()
        for descriptor in self._descriptors:
            os.set_blocking(descriptor, False)

    def listen(self, telemetry: Path) -> None:
        """Hear from now on what processes ask for that write to this folder. Whoever asked before heard nothing: look
        at what is there after this. Where there can be no pipe, on a file system that has none or no room, a flush
        takes as long as the pace is."""
        for make in (partial(os.mkdir, telemetry), partial(os.mkfifo, telemetry / WAKE, 0o666)):
            with suppress(OSError):  # a former process has made it
                make()
        named = _open(str(telemetry / WAKE))
        if named is not None:
            reading, writing = self._descriptors
            for descriptor in (writing, reading):  # in this order: whoever calls `set` meanwhile finds a reader
                os.dup2(named, descriptor, inheritable=False)
            os.close(named)
            self.set()  # what was in the former pipe is gone

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
        for descriptor in self._descriptors:
            os.close(descriptor)


def _open(path: str) -> int | None:
    """The pipe of that name, open at both ends; None when there is none."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None
