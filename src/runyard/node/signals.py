"""The signals that a node runner gets, turned into something its main thread can wait for. It sends none."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress
from types import FrameType


class Signals:
    """Catches SIGTERM and SIGINT (a stop is requested) and SIGCHLD (a process ended). Only for the main thread."""

    def __init__(self) -> None:
        self.stop_requested = False
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        # Handlers, not SIG_IGN: an ignored signal would stay ignored in the user's script.
        for number in (signal.SIGCHLD, signal.SIGHUP):
            signal.signal(number, self._note)

    def wait(self, seconds: float) -> None:
        """Return when a signal has come, when `wake` was called, or after `seconds`."""
        if select.select([self._read], [], [], max(0.0, seconds))[0]:
            os.read(self._read, 4096)

    def request_stop(self) -> None:
        """Act as if SIGTERM had come; may be called from any thread."""
        self.stop_requested = True
        self.wake()

    def wake(self) -> None:
        """End a `wait`; may be called from any thread."""
        with suppress(BlockingIOError):  # the pipe is full, so the main thread is awake already
            os.write(self._write, b"\0")

    def close(self) -> None:
        """Hear of nothing any more; for whoever has other handlers by then."""
        signal.set_wakeup_fd(-1)
        os.close(self._read)
        os.close(self._write)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stop_requested = True

    def _note(self, number: int, frame: FrameType | None) -> None:
        """Only the wake-up matters."""
