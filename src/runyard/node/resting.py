"""Node runners that take up one run after the other: to fork one costs more than the rest of a short run.

The nursery and each runner that it forks share a pair of sockets. A runner whose run has ended well, and who has
nothing left of it, says so, and rests: for a moment it waits for another run. It ends when none comes, when somebody
asks it to, and when its nursery is gone. So whoever ends a runner must know that it is still at work for the run that
is meant (`runyard.engines.local`).
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import threading
from contextlib import suppress

from runyard.node.launch.processes import has_children
from runyard.node.signals import Signals

RESTS_FOR = 2.0
"""Seconds for which a runner waits for another run."""

MOST = 8
"""How many runners rest at a time: each has a few megabytes for itself."""

RUNS = 200
"""How many runs one takes up after its first: what one may have left in memory is gone with it."""

LINES = 256
"""How many runners can say that they rest: a process may have few descriptors. The others end with their runs."""

COLLECTS_EVERY = 20
"""Runs after which it is looked whether they have left something that nobody needs. Each leaves little."""

TAKEN_WITHIN = 5.0
"""Seconds in which a runner that rests answers. One that is silent for so long was stopped: it is killed."""

_RESTS, _TAKEN = b"r", b"t"


class Resting:
    """The nursery's side. A runner is known by its process id."""

    def __init__(self) -> None:
        self._lines: dict[int, socket.socket] = {}  # to all runners that are alive
        self._resting: list[int] = []  # the one that has come last is taken first: it has forgotten the least
        self._of: dict[int, int] = {}  # runners by the descriptors of their lines

    def line(self) -> tuple[socket.socket, socket.socket] | None:
        """The two ends of a line to a runner that is about to be forked."""
        return socket.socketpair() if sys.platform == "linux" and len(self._lines) < LINES else None

    def add(self, pid: int, line: socket.socket) -> None:
        """A runner was forked, which has the other end of this line."""
        self._lines[pid], self._of[line.fileno()] = line, pid

    def descriptors(self) -> list[int]:
        """What becomes readable when a runner begins to rest, or ends."""
        return list(self._of)

    def all_descriptors(self) -> list[int]:
        """What a runner has no business with."""
        return [line.fileno() for line in self._lines.values()]

    def begins(self, descriptor: int) -> int | None:
        """The runner that has begun to rest, if that is why this can be read; it ends where enough of them rest."""
        pid = self._of[descriptor]
        said = b""
        with suppress(ConnectionError):
            said = self._lines[pid].recv(1)
        if said != _RESTS:  # it has ended
            del self._of[descriptor]
            return None
        if len(self._resting) < MOST:
            self._resting.append(pid)
        else:
            self.forget(pid)
        return pid

    def forget(self, pid: int) -> None:
        """A runner has ended, or is to end now if it rests."""
        line = self._lines.pop(pid, None)
        if line is not None:
            self._of.pop(line.fileno(), None)
            line.close()
        if pid in self._resting:
            self._resting.remove(pid)

    def hand_over(self, arguments: list[str]) -> int | None:
        """Have a runner take up a run; None when none can. It has begun with nothing of it then, and never will."""
        while self._resting:
            pid = self._resting.pop()
            line = self._lines[pid]
            try:
                line.settimeout(TAKEN_WITHIN)
                line.sendall(json.dumps(arguments).encode() + b"\n")
                if line.recv(1) == _TAKEN:
                    return pid
            except OSError:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
                line.settimeout(0.0)
                with suppress(OSError):
                    if line.recv(1) == _TAKEN:  # in the last moment: it is as if it was killed afterwards
                        return pid
            self.forget(pid)
        return None


class Rest:
    """The runner's side."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._runs = 0
        self._open = _open_files()

    def next_run(self, signals: Signals) -> list[str] | None:
        """The arguments for the next run, with the signals blocked that stop one; None when this process is to end."""
        self._runs += 1
        if not self._may(signals):
            return None
        try:
            self._line.sendall(_RESTS)
            if not select.select([self._line], [], [], RESTS_FOR)[0]:
                return None
            received = self._line.recv(1 << 16)
            signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
            if not received:
                return None
            self._line.sendall(_TAKEN)
        except OSError:
            return None
        arguments: list[str] = json.loads(received)
        return arguments

    def _may(self, signals: Signals) -> bool:
        """Leave the former run; whether there is nothing left of it that another one could meet."""
        for number in STOPS:
            signal.signal(number, signal.SIG_DFL)  # whoever rests ends at once
        signals.close()
        if signals.stop_requested or self._runs > RUNS or threading.active_count() > 1 or has_children():
            return False
        gc.disable()
        if self._runs % COLLECTS_EVERY == 0:
            gc.collect()
        os.chdir("/")
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        os.close(nowhere)
        return _open_files() == self._open


STOPS = (signal.SIGTERM, signal.SIGINT)
"""What stops a run."""


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))
