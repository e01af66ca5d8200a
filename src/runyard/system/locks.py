"""Locks between the processes of a machine: files that are held with flock, and that go with whoever held them.

A lock's file may be removed by its holder. Whoever was waiting for the removed file begins again with the new one.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType


class Held:
    """A lock that is held until `release`, or the death of the process."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor, self.path = descriptor, path

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def write(self, text: str) -> None:
        """Leave a message for those who wait."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)

    def remove(self) -> None:
        """Remove the file of a lock that nobody else holds, and let go of it."""
        if self._descriptor >= 0:
            self.path.unlink(missing_ok=True)
        self.release()

    def __enter__(self) -> Held:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()


def alone(path: Path, keep: bool = False) -> Held | None:
    """The lock for one holder; None when somebody has it, alone or together with others. With `keep`, what the file
    holds stays: it is more than a lock."""
    held = _take(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if held is not None and not keep:
        held.write("")  # a holder that was killed has left its message
    return held


def together(path: Path) -> Held:
    """The lock for any number of holders. Waits while one has it alone."""
    held = _take(path, fcntl.LOCK_SH)
    assert held is not None  # a lock that is waited for is got
    return held


def is_held(path: Path) -> bool:
    """Whether anybody has the lock. Nothing is written for asking."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)


def _take(path: Path, how: int) -> Held | None:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, how)
            if _is_still(path, descriptor):
                return Held(descriptor, path)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))
