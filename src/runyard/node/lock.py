"""One node runner per run: whoever holds `runner.lock` is at work in the run's folder."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import BinaryIO, cast


def take_lock(folder: Path, patience: float = 0.0) -> BinaryIO | None:
    """Lock the run's folder for as long as the file is open; None when another process has it.

    With `patience`, in seconds, it is tried for so long: somebody may only probe whether it is held.
    """
    path = folder / "runner.lock"
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    file = cast(BinaryIO, os.fdopen(opened, "ab", 0))  # the caller closes it
    if not _flock(file, patience) or not _is_at(file, path):
        file.close()
        return None
    os.ftruncate(opened, 0)
    file.write(json.dumps({"pid": os.getpid()}).encode())
    return file


def _flock(file: BinaryIO, patience: float) -> bool:
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Whether the folder was not removed meanwhile: a lock on a removed file excludes nobody."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False
