"""Forks node runners from a process that has loaded their code: Python's start and the imports cost ten times more.

    python -I -S <sdk folder>/runyard/node --nursery <room for the title of a runner>

Each line on standard input requests a runner: `[folder, option, ...]` in JSON. Each line on standard output answers,
in the same order, with `{"pid"}` or `{"errno"}`; between them comes `{"ended": pid, "status"}` for each that has ended.
A runner that has ended its run may take up another one (`resting`): then it is told of as one that has ended, and its
id comes again. This process ends when its standard input does, and when nobody has needed it for long. The runners go
on with the runs that they have.
"""

from __future__ import annotations

import contextlib
import ctypes
import encodings.ascii
import encodings.idna  # noqa: F401 - for the name of a server's host that is not ASCII
import gc
import json
import os
import select
import signal
import socket
import sys
import traceback
from functools import lru_cache
from typing import Any, NoReturn

# All that a runner loads: what is here is paid for once.
from runyard.client import exchange  # noqa: F401 - loaded with the first request otherwise
from runyard.environments import prepare as _environments  # noqa: F401
from runyard.node import runner
from runyard.node.gang import follower, leader  # noqa: F401
from runyard.node.launch import frameworks, ports, tie  # noqa: F401
from runyard.node.outcome import exits, failure, outcome  # noqa: F401
from runyard.node.rescue import rescue  # noqa: F401
from runyard.node.resting import STOPS, Rest, Resting
from runyard.node.signals import Signals
from runyard.node.state import machine
from runyard.system import records
from runyard.system.files import content
from runyard.system.processes import prctl

OPTION, RESTING = "--nursery", "--resting"
UNUSED = 600.0
"""Seconds without a request, and without a runner alive, after which it ends."""

IDLE = 0.2
"""Seconds without a request after which it loads what only some runs need: nobody waits for it then."""

_M_ARENA_MAX = -8  # of malloc.h


def main() -> int:
    answers = os.dup(1)
    os.dup2(2, 1)
    _retitle(sys.executable, sys.argv[0], OPTION)
    _warm_up()
    gc.collect()
    gc.freeze()  # the collector would touch, and so copy, what all runners share
    gc.disable()  # neither this process nor a short run makes garbage that is worth a look (`runner.main`)
    return _Nursery(answers).serve()


def _warm_up() -> None:
    """Have at hand what Python looks up when it is first used, and what is the same for all runners."""
    records.finish_all()
    prctl()
    machine()
    if sys.platform.startswith("linux"):
        with contextlib.suppress(AttributeError):  # another C library
            # A runner has few threads, which take turns: a second arena of memory costs more than it brings.
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
    "localhost".encode("idna")


def _complete() -> None:
    """What only some runs need, or can do without: nobody waits for it, as at the start of the nursery."""
    tie.look()
    from runyard.node.prepare import data  # noqa: F401

    records.finish_all()
    gc.collect()
    gc.freeze()


class _Nursery:
    def __init__(self, answers: int) -> None:
        self._answers = answers
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self._own = (answers, self._woken, wake)
        self._at_work: set[int] = set()
        self._resting = Resting()

    def serve(self) -> int:
        with contextlib.suppress(BrokenPipeError):  # the server was killed before it could be answered
            self._serve()
        return 0

    def _serve(self) -> None:
        pending, complete = b"", False
        while True:
            sources = [0, self._woken, *self._resting.descriptors()]
            ready, _, _ = select.select(sources, [], [], UNUSED if complete else IDLE)
            if not ready and not complete:
                _complete()
                complete = True
                continue
            if not ready and not self._at_work:
                return
            for each in ready:
                if each not in (0, self._woken):
                    self._ended(self._resting.begins(each), 0)
            if self._woken in ready:
                os.read(self._woken, 4096)
                self._reap()
            if 0 in ready:
                received = os.read(0, 1 << 16)
                if not received:
                    return
                *lines, pending = (pending + received).split(b"\n")
                for line in lines:
                    self._answer(self._start(json.loads(line)))

    def _start(self, arguments: list[str]) -> dict[str, int]:
        pid = self._resting.hand_over(arguments)
        if pid is None:
            try:
                pid = self._fork(arguments)
            except OSError as error:
                return {"errno": error.errno or 0}
        self._at_work.add(pid)
        return {"pid": pid}

    def _fork(self, arguments: list[str]) -> int:
        exits.memory_kills_before()
        line = self._resting.line()
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # one that comes early waits until the runner can handle it
        try:
            pid = os.fork()
            if pid == 0:
                for each in (*self._own, *self._resting.all_descriptors()):
                    os.close(each)
                _become_runner(arguments, line)
        except OSError:
            if line is not None:
                line[0].close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
            if line is not None:
                line[1].close()
        if line is not None:
            self._resting.add(pid, line[0])
        return pid

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                self._resting.forget(pid)
                self._ended(pid, status)

    def _ended(self, pid: int | None, status: int) -> None:
        """Tell that a runner has ended, or its run and it rests; of one that has rested when it ended, nothing."""
        if pid in self._at_work:
            self._at_work.remove(pid)
            self._answer({"ended": pid, "status": status})

    def _answer(self, answer: dict[str, Any]) -> None:
        os.write(self._answers, json.dumps(answer).encode() + b"\n")


def _become_runner(arguments: list[str], line: tuple[socket.socket, socket.socket] | None) -> NoReturn:
    """In the new process: leave what belongs to the nursery, be what `__main__` makes of one that is started anew, for
    one run after the other."""
    code = 1
    try:
        os.setsid()
        _stream(os.devnull, os.O_RDONLY, 0)
        rest = None
        if line is not None:
            line[0].close()
            rest = Rest(line[1])
        following: list[str] | None = arguments
        while following is not None:
            folder = following[0]
            _stream(os.path.join(folder, "streams", "runner.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 1, 2)
            os.chdir(folder)
            _retitle(sys.executable, sys.argv[0], *following)
            signals = Signals()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
            code = runner.main(following, signals)
            _retitle(sys.executable, sys.argv[0], RESTING)
            following = rest.next_run(signals) if rest is not None and code == 0 else None
    except BaseException:  # noqa: BLE001 - as the interpreter does at its end; nothing of the nursery may run on here
        traceback.print_exc()
    finally:
        os._exit(code)


def _stream(path: str, flags: int, *streams: int) -> None:
    """Open a file as standard streams."""
    opened = os.open(path, flags, 0o600)
    for stream in streams:
        os.dup2(opened, stream)
    os.close(opened)


def _retitle(*arguments: str) -> None:
    """Have `ps` show what this process is for: its arguments are written over in its own memory (Linux).

    The kernel shows a title up to its first zero byte once the last byte of the arguments is not zero any more.
    """
    if not sys.platform.startswith("linux"):
        return
    start, end = _room()
    title = " ".join(arguments).encode("utf-8", "surrogateescape")[: max(0, end - start - 2)]
    if start and title:
        ctypes.memmove(start, title.ljust(end - start - 1, b"\0") + b".", end - start)


@lru_cache(maxsize=1)
def _room() -> tuple[int, int]:
    """Where the arguments of this process begin and end, which are those of all that it forks."""
    fields = content("/proc/self/stat").rpartition(b")")[2].split()
    return int(fields[45]), int(fields[46])  # arg_start and arg_end of proc(5)
