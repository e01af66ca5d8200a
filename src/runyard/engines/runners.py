"""Node runners as processes of this machine: finding them again, asking them to stop, noticing their end."""

from __future__ import annotations

import contextlib
import fcntl
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from runyard.engines.base import Handle
from runyard.system.json_files import BadFile, is_process, read_object
from runyard.system.processes import alive, started

Gone = Callable[[str], None]
"""Called once with how it ended, as a message, when none of some processes is alive any more."""

WRITTEN_WITHIN = 10
"""Hundredths of a second in which whoever has taken a lock writes his process id into it."""

HIDDEN_FROM_RUNS = (
    "RUNYARD_TOKEN",
    "RUNYARD_DATABASE_URL",
    "RUNYARD_SERVER",
    "RUNYARD_HOME",
    "RUNYARD_PORT",
    "RUNYARD_HOST",
)
"""Variables of the server that a user's script must not see."""


def handle_of(pid: int) -> Handle:
    """What identifies a process: its id, and when it was started, by a clock that nobody sets. The time of day will not
    do: once that was put forward or back, the process would be taken for another one, and never be asked to stop."""
    return {"pid": pid, "started": started(pid)}


def await_others(handles: Sequence[Handle], gone: Gone) -> bool:
    """Wait, in a thread, for processes that a former server has started. False: none of them is alive."""
    if not any(map(find, handles)):
        return False

    def wait_for_all() -> None:
        for handle in handles:
            wait(handle)
        gone("it is gone")

    threading.Thread(target=wait_for_all, daemon=True).start()
    return True


def wait(handle: Handle) -> None:
    """Wait for the end of a process that somebody else has started."""
    process = find(handle)
    if process is not None:
        process.wait()


def terminate(handles: Sequence[Handle]) -> bool:
    """Ask the first of them that lives to stop; in a gang, that is the leader, or one who has lost it. False: none of
    them lives."""
    for handle in handles:
        process = find(handle)
        if process is None:
            continue
        with contextlib.suppress(psutil.NoSuchProcess):  # it may end in this moment
            process.send_signal(signal.SIGTERM)
            return True
    return False


def find(handle: Handle) -> psutil.Process | None:
    """The process of a handle, unless it is gone and its id belongs to somebody else now."""
    pid = int(handle["pid"])
    try:
        if "created" in handle:  # a former server stored the time of day
            process = psutil.Process(pid)
            same = abs(process.create_time() - float(handle["created"] or 0.0)) < 0.05
            return process if same and process.status() != psutil.STATUS_ZOMBIE else None
        known = handle["started"]
        return psutil.Process(pid) if known is not None and alive(pid, known) else None
    except psutil.NoSuchProcess:
        return None


def at_work(pid: int) -> bool:
    """Whether a child of the nursery has not ended: its id stays its own until the nursery has reported its end."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1] not in (b"Z", b"X")
    except FileNotFoundError:
        return not sys.platform.startswith("linux") and find(handle_of(pid)) is not None


def holder(lock: Path) -> Handle | None:
    """The node runner that holds the lock of a run's folder, if one does."""
    try:
        with open(lock, "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return None
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return handle_of(_written(lock))


def _written(lock: Path) -> int:
    """The process id in a lock; 0, which no process has, when there is none. It comes a moment after the lock is
    taken."""
    for _ in range(WRITTEN_WITHIN):
        pid = _read(lock)
        if pid:
            return pid
        time.sleep(0.01)
    return 0


def _read(lock: Path) -> int:
    try:
        pid = read_object(lock).get("pid")
    except BadFile:
        return 0
    return pid if isinstance(pid, int) and is_process(pid) else 0
