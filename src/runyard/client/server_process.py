"""The server of a home folder on this machine: find the one that runs, start one, stop it.

What the server does once it runs is `runyard.server`'s business; here it is a process and an address.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Iterator

from runyard.client.http import ClientProblem, healthy
from runyard.contracts import home as homes
from runyard.system import processes

if TYPE_CHECKING:
    import subprocess

START_SECONDS = 60.0
STOP_SECONDS = 20.0
SLOW_SECONDS = 20.0
LOG_LINES = 15

_started_here: dict[int, subprocess.Popen[bytes]] = {}
"""Servers that this process started: they are polled, so that none becomes a zombie."""


class ServerNotStarted(ClientProblem):
    """The server ended while it was starting, or did not answer in time."""


def ensure_server(home: Path, seconds: float = START_SECONDS) -> str:
    """The address of the server of this home; it is started when there is none.

    Two concurrent callers start one server: the second waits for the first.
    """
    running = find_server(home)
    if running is not None:
        return running.url
    deadline = time.monotonic() + seconds
    with _starting(home, deadline):
        # No other process can be starting one now. A server that is only slow to answer gets more time than before.
        running = find_server(home, SLOW_SECONDS)
        return running.url if running is not None else _start(home, deadline)


def address(home: Path) -> str:
    """The address of the server of this home; it is started when there is none.

    One whose process is alive is not asked whether it answers: the first request shows that, and a client that may
    revive the server (`Locator.revive`) does so then.
    """
    running = homes.read_server(home)
    return running.url if running is not None and _lives(running) else ensure_server(home)


def find_server(home: Path, seconds: float = 2.0) -> homes.Running | None:
    """The server that runs for this home and answers within so many seconds; None when there is none."""
    running = homes.read_server(home)
    if running is None or not _lives(running):
        return None
    return running if healthy(running.url, seconds) else None


def stop_server(home: Path, seconds: float = STOP_SECONDS) -> bool:
    """Stop the server of this home and wait until it has ended; False when none was running. Runs go on without it."""
    running = homes.read_server(home)
    start = processes.started(running.pid) if running is not None else None
    if running is None or start is None or not _lives(running) or not healthy(running.url, timeout=seconds):
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(running.pid, signal.SIGTERM)
    if not _wait_until_gone(running.pid, start, seconds):
        with contextlib.suppress(ProcessLookupError):
            os.kill(running.pid, signal.SIGKILL)
        _wait_until_gone(running.pid, start, seconds)
    return True


def _start(home: Path, deadline: float) -> str:
    import subprocess

    log = home / "server.log"
    environment = dict(os.environ, RUNYARD_HOME=str(home))
    with open(log, "ab", opener=lambda path, flags: os.open(path, flags, 0o600)) as output:
        began = output.tell()
        # The home is also the working folder: a module of the user's folder must not shadow one of Python's.
        process = subprocess.Popen(
            [sys.executable, "-m", "runyard.server"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=home,
            env=environment,
            start_new_session=True,
        )
    _started_here[process.pid] = process
    pause = 0.01
    while True:
        running = homes.read_server(home)
        if running is not None and _lives(running) and healthy(running.url):
            return running.url
        code = process.poll()
        if code is not None:
            raise ServerNotStarted(
                "server_not_started",
                f"The Runyard server for {home} ended at its start (exit code {code}).{_last_lines(log, began)}",
                "`runyard serve` starts it in the foreground; `runyard doctor` looks for the cause.",
            )
        if time.monotonic() > deadline:
            raise ServerNotStarted(
                "server_not_started",
                f"The Runyard server for {home} (pid {process.pid}) did not answer in time.{_last_lines(log, began)}",
                f"Its whole log is {log}. `runyard down` stops it.",
            )
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)


@contextlib.contextmanager
def _starting(home: Path, deadline: float) -> Iterator[None]:
    """Only one process at a time starts a server for this home."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(home / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ServerNotStarted(
            "server_not_started",
            f"Runyard cannot keep its files in {home}: {error.strerror or error}.",
            "Make the folder writable, or name another one in RUNYARD_HOME.",
        ) from error
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise ServerNotStarted(
                        "server_not_started",
                        f"Another process has been starting the Runyard server for {home} for too long.",
                        f"It holds {home / 'start.lock'}; see {home / 'server.log'}.",
                    ) from None
                time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


def _lives(running: homes.Running) -> bool:
    """Whether it is still that process: after a crash its id and its port may belong to others."""
    child = _started_here.get(running.pid)
    if child is not None and child.poll() is not None:
        del _started_here[running.pid]
        return False
    return processes.alive(running.pid, running.started)


def _wait_until_gone(pid: int, start: str, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while processes.alive(pid, start):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    if pid in _started_here:
        _started_here.pop(pid).wait()
    return True


def _last_lines(log: Path, began: int) -> str:
    with log.open("rb") as file:
        file.seek(began)
        lines = file.read().decode("utf-8", "replace").strip().splitlines()[-LOG_LINES:]
    return " It said:\n" + "\n".join(f"    {line}" for line in lines) + "\n" if lines else ""
