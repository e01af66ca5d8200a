"""The process that a node runner starts for a service: holds the listening socket and keeps the workers alive.

It loads nothing heavy, so that it costs little memory. A worker that dies is replaced, at once the first time; one
that holds more memory than its part is replaced and then drained. The socket is never closed meanwhile, so what comes
in between waits in the kernel.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from pathlib import Path

from runyard.contracts.services.worker import (
    DRAINING,
    FAILED,
    INIT_FAILED,
    READY,
    STARTING,
    WorkerError,
    WorkerSettings,
    WorkerStatus,
)
from runyard.serving import memory
from runyard.serving.left_files import leave
from runyard.serving.listener import obtain

LOOK_SECONDS = 1.0  # how often memory is looked at, and whether a worker is to be started
WRITE_SECONDS = 5.0  # how often the memory in status.json is brought up to date
STEADY_SECONDS = 10.0  # a worker that was ready for longer is replaced at once
LONGEST_PAUSE = 30.0
EXTRA_SECONDS = 2.0  # for workers to end after their time to drain


class Child:
    """A worker as the supervisor sees it."""

    def __init__(self, number: int, pid: int, control: socket.socket) -> None:
        self.number, self.pid, self.control = number, pid, control
        self.state = STARTING
        self.started = time.monotonic()
        self.ready_at = 0.0
        self.error: WorkerError | None = None
        self.successor: Child | None = None
        self._read = b""

    def messages(self) -> list[dict[str, object]] | None:
        """What it has said since; None when it says no more."""
        try:
            data = self.control.recv(1 << 20)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError:
            data = b""
        if not data:
            return None
        *lines, self._read = (self._read + data).split(b"\n")
        return [json.loads(line) for line in lines]


class Supervisor:
    def __init__(self, settings: WorkerSettings, path: Path) -> None:
        self._settings, self._path = settings, path
        self._listening, self._offer = obtain(settings.listener, settings.host, settings.port)
        self._children: list[Child] = []
        self._restarts = [0] * settings.workers
        self._quick = [0] * settings.workers  # deaths in a row that came soon after the start
        self._due: dict[int, float] = {}  # when a worker is to be started again, by its number
        self._error: WorkerError | None = None
        self._was_ready = False
        self._ends_at = 0.0  # of draining
        self._exit: int | None = None
        self._written = 0.0
        self._kills = memory.kills()
        self._wake, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, lambda number, frame: None)

    def run(self) -> int:
        """Supervise until told to end; the exit code."""
        for number in range(self._settings.workers):
            self._start(number)
        self._write()
        while self._exit is None:
            self._wait()
            self._reap()
            self._look()
        for child in self._children:
            self._kill(child)
        while self._children:
            self._wait()
            self._reap()
        self._write()
        if self._offer is not None:
            self._offer.close()
        self._listening.close()
        return self._exit

    # Events.

    def _wait(self) -> None:
        watched: list[int] = [
            self._wake,
            *(child.control.fileno() for child in self._children if child.control.fileno() >= 0),
        ]
        if self._offer is not None:
            watched.append(self._offer.fileno())
        poll = select.poll()
        for descriptor in watched:
            poll.register(descriptor, select.POLLIN)
        try:
            found = {descriptor for descriptor, _ in poll.poll(LOOK_SECONDS * 1000)}
        except InterruptedError:
            return
        if self._wake in found:
            self._signalled()
        if self._offer is not None and self._offer.fileno() in found:
            self._offer.answer()
        for child in list(self._children):
            if child.control.fileno() in found:
                self._hear(child)

    def _signalled(self) -> None:
        with contextlib.suppress(BlockingIOError):
            for number in os.read(self._wake, 512):
                if number in (signal.SIGTERM, signal.SIGINT):
                    self._drain()

    def _hear(self, child: Child) -> None:
        said = child.messages()
        if said is None:
            child.control.close()
            return
        for each in said:
            if each.get("state") == READY:
                child.state, child.ready_at = READY, time.monotonic()
                self._was_ready = True
                self._replaced_by(child)
            elif isinstance(each.get("error"), dict):
                child.error = WorkerError(**each["error"])  # type: ignore[arg-type]
        self._write()

    def _drain(self) -> None:
        if self._ends_at:  # told twice: do not wait
            self._exit = 0
            return
        self._ends_at = time.monotonic() + self._settings.drain_seconds + EXTRA_SECONDS
        self._due.clear()
        for child in self._children:
            self._end(child)
        self._write()

    # Workers.

    def _start(self, number: int) -> Child:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        for each in (theirs, self._listening):
            os.set_inheritable(each.fileno(), True)
        command = [sys.executable, "-m", "runyard.serving", str(self._path), "--worker", str(number)]
        command += ["--listening", str(self._listening.fileno()), "--control", str(theirs.fileno())]
        pid = os.posix_spawn(sys.executable, command, os.environ)
        os.set_inheritable(self._listening.fileno(), False)
        theirs.close()
        child = Child(number, pid, ours)
        self._children.append(child)
        return child

    def _reap(self) -> None:
        while self._children:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = next((each for each in self._children if each.pid == pid), None)
            if child is not None:
                if child.control.fileno() >= 0:
                    self._hear(child)
                    child.control.close()
                self._children.remove(child)
                self._ended(child, status)
                self._write()

    def _ended(self, child: Child, status: int) -> None:
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        if self._exit is not None or child.state == DRAINING:
            if self._ends_at and not self._children:
                self._exit = 0
            return
        self._error = child.error or self._death(child, code)
        print(f"Worker {child.number} ended: {self._error.message}", file=sys.stderr, flush=True)
        others = [each for each in self._children if each.state == READY]
        if not self._was_ready or (code == INIT_FAILED and not others):
            self._exit = INIT_FAILED if code == INIT_FAILED else 1
            return
        steady = child.ready_at and time.monotonic() - child.ready_at > STEADY_SECONDS
        self._quick[child.number] = 0 if steady else self._quick[child.number] + 1
        quick = self._quick[child.number]
        pause = 0.0 if quick <= 1 else min(LONGEST_PAUSE, 0.5 * 2 ** (quick - 2))
        self._restarts[child.number] += 1
        self._due[child.number] = time.monotonic() + pause
        self._start_due()

    def _death(self, child: Child, code: int) -> WorkerError:
        kills, before = memory.kills(), self._kills
        self._kills = kills
        when = "before it was ready" if not child.ready_at else "while it served"
        if code == -signal.SIGKILL and kills > before:
            return WorkerError(
                "OutOfMemory",
                f"The worker was killed by the kernel {when}: the service had no memory left.",
                help="Give the service more memory (memory_gb), or fewer workers.",
            )
        if code < 0:
            name = signal.Signals(-code).name if -code in list(signal.Signals) else str(-code)
            return WorkerError("WorkerDied", f"The worker was ended by {name} {when}.", help=_HELP.get(name, ""))
        return WorkerError("WorkerDied", f"The worker exited with {code} {when}.")

    def _look(self) -> None:
        now = time.monotonic()
        self._start_due()
        if self._ends_at:
            if not self._children:
                self._exit = 0
            elif now > self._ends_at:
                self._exit = 0  # those that are left are killed
            return
        limit = self._settings.memory_limit_bytes
        if limit:
            for child in list(self._children):
                if child.state == READY and child.successor is None:
                    held = memory.memory_of(child.pid)
                    if held > limit // self._settings.workers:
                        print(
                            f"Worker {child.number} holds {held >> 20} MiB, more than its part of the service's "
                            f"{limit >> 20} MiB: it is replaced.",
                            file=sys.stderr,
                            flush=True,
                        )
                        self._restarts[child.number] += 1
                        child.successor = self._start(child.number)
        if now - self._written > WRITE_SECONDS:
            self._write()

    def _start_due(self) -> None:
        now = time.monotonic()
        for number in [number for number, due in self._due.items() if due <= now]:
            del self._due[number]
            self._start(number)

    def _replaced_by(self, child: Child) -> None:
        for each in self._children:
            if each.successor is child:
                self._end(each)

    def _end(self, child: Child) -> None:
        child.state = DRAINING
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGTERM)

    def _kill(self, child: Child) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)

    # Status.

    def _write(self) -> None:
        self._written = time.monotonic()
        host, port = self._listening.getsockname()[:2]
        workers = [
            {
                "number": child.number,
                "pid": child.pid,
                "state": child.state,
                "restarts": self._restarts[child.number],
                "memory_bytes": memory.memory_of(child.pid),
                "ready_seconds": round(child.ready_at - child.started, 3) if child.ready_at else None,
            }
            for child in self._children
        ]
        state = self._state()
        status = WorkerStatus(
            state,
            os.getpid(),
            host,
            port,
            self._settings.revision,
            self._settings.replica,
            workers,
            self._error,
            sum(self._restarts),
        )
        leave(self._settings.status, status.as_dict())

    def _state(self) -> str:
        if self._exit not in (None, 0):
            return FAILED
        if self._ends_at:
            return DRAINING
        return READY if any(child.state == READY for child in self._children) else STARTING


_HELP = {
    "SIGKILL": "If nobody killed it, the machine had no memory left: give the service more, or fewer workers.",
    "SIGSEGV": "A package of the environment crashed: its versions may not fit together.",
    "SIGILL": "A package of the environment was built for another processor.",
    "SIGABRT": "A package of the environment ended the process; the log may say why.",
}
