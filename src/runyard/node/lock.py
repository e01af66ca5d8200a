"""One node runner per run: whoever holds `runner.lock` is at work in the run's folder."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import TextIO


def take_lock(folder: Path) -> TextIO | None:
    """Lock the run's folder for as long as the file is open; None when another process has it."""
    file = open(folder / "runner.lock", "a+", encoding="utf-8")  # noqa: SIM115 - the caller keeps it open
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    file.truncate(0)
    file.write(json.dumps({"pid": os.getpid()}))
    file.flush()
    return file
