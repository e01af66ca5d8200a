"""Node runners as processes of this machine: starting them, finding them again, telling when they are gone."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from runyard.engines.base import Handle

Gone = Callable[[str], None]
"""Called once with how it ended, in words, when none of some processes is alive any more."""

KEPT_FROM_RUNS = (
    "RUNYARD_TOKEN",
    "RUNYARD_DATABASE_URL",
    "RUNYARD_SERVER",
    "RUNYARD_HOME",
    "RUNYARD_PORT",
    "RUNYARD_HOST",
)
"""Variables of the server that a user's script must not see."""


def spawn(sdk: Path, folder: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start a node runner in a session of its own, so that it outlives the server."""
    environment = {name: value for name, value in os.environ.items() if name not in KEPT_FROM_RUNS}
    with open(folder / "streams" / "runner.log", "ab") as log:
        # -I -S: the runner needs only the standard library, and starts in a fraction of the time without site.
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(sdk / "runyard" / "node"), str(folder), *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )


def handle_of(pid: int) -> Handle:
    return {"pid": pid, "created": _created(pid)}


def await_own(processes: Sequence[subprocess.Popen[bytes]], gone: Gone) -> None:
    """Wait, in a thread, for processes that this server has started. What node 0 says of its end is told."""

    def wait() -> None:
        codes = [process.wait() for process in processes]
        gone(f"killed by {signal.Signals(-codes[0]).name}" if codes[0] < 0 else f"exit code {codes[0]}")

    threading.Thread(target=wait, daemon=True).start()


def await_others(handles: Sequence[Handle], gone: Gone) -> bool:
    """Wait, in a thread, for processes that a former server has started. False: none of them is alive."""
    alive = [process for process in map(find, handles) if process is not None]
    if not alive:
        return False

    def wait() -> None:
        for process in alive:
            process.wait()
        gone("it is gone")

    threading.Thread(target=wait, daemon=True).start()
    return True


def terminate(handles: Sequence[Handle]) -> None:
    """Ask the first of them that lives to stop; in a gang, that is the leader, or one who has lost it."""
    for handle in handles:
        process = find(handle)
        if process is None:
            continue
        with contextlib.suppress(psutil.NoSuchProcess):  # it may end in this moment
            process.send_signal(signal.SIGTERM)
            return


def find(handle: Handle) -> psutil.Process | None:
    """The process of a handle, unless it is gone and its id belongs to somebody else now."""
    try:
        process = psutil.Process(int(handle["pid"]))
        same = abs(process.create_time() - float(handle["created"] or 0.0)) < 0.05
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.NoSuchProcess:
        return None


def holder(lock: Path) -> Handle | None:
    """The node runner that holds the lock of a run's folder, if one does."""
    try:
        with open(lock, "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return None
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return handle_of(int(json.loads(lock.read_text("utf-8") or '{"pid": 0}')["pid"]))


def _created(pid: int) -> float | None:
    try:
        return psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        return None
