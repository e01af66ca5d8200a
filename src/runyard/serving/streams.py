"""Standard output and error that never fail: on a full disk a service answers, and what it would have said is lost."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Forgiving(io.FileIO):
    """A file descriptor that takes everything, whether it can be written or not."""

    def write(self, data: ReadableBuffer) -> int:  # type: ignore[override, unused-ignore]
        try:
            written = super().write(data)
        except OSError:
            written = None
        return memoryview(data).nbytes if written is None else written


def forgiving(descriptor: int) -> io.TextIOWrapper:
    """A text stream over a descriptor, which stays open, whose lines are written as they end."""
    raw = io.BufferedWriter(_Forgiving(descriptor, "wb", closefd=False))
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)


def install() -> None:
    """Have everything of this process, the user's code included, write to such streams."""
    sys.stdout.flush()
    sys.stdout, sys.stderr = forgiving(1), forgiving(2)
