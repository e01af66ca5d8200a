"""Starting node runners on this machine through a process that forks them (`runyard.node.nursery`), and their ends.

The nursery is the parent of the runners, so it alone learns how each has ended. It may be killed or stopped: the next
start makes another one, and the end of a runner is then seen, if not how.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from runyard.engines import runners
from runyard.engines.base import Handle
from runyard.node.outcome import exits

ROOM = 4096
"""Bytes that the title of a runner may have: `ps` shows the folder of its run."""

ANSWERS_WITHIN = 30.0
"""Seconds for an answer. One that is silent for so long was stopped, or hangs: it is killed, and another follows."""

ENDS_WITHIN = 5.0
"""Seconds for it to end by itself: one that was stopped, for example, must not prevent the server from ending."""

LOOK_EVERY = 5.0
"""Seconds between two checks for runners whose end was not reported: their nursery may have been stopped."""


class NurseryEnded(OSError):
    """The process that starts node runners has ended before it could answer, or does not answer."""


class Started:
    """A node runner that this server has started. No thread waits for it: whoever learns of its end reports it."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._how = ""
        self._subscribers: list[runners.Gone] = []

    def set_status(self, status: int | None) -> None:
        """Its wait status; None when it cannot be known any more: then its end is waited for."""
        if status is None:
            threading.Thread(target=self._wait_until_gone, daemon=True).start()
        elif os.WIFSIGNALED(status):
            self.end(f"killed by {exits.signal_name(os.WTERMSIG(status))}")
        else:
            self.end(f"exit code {os.WEXITSTATUS(status)}")

    def end(self, how: str) -> None:
        """It has ended. Only the first report counts."""
        with self._lock:
            if self._ended.is_set():
                return
            self._how = how
            self._ended.set()
        for subscriber in self._subscribers:
            subscriber(how)

    def then(self, subscriber: runners.Gone) -> None:
        """Have its end passed on, as a message; at once if it has ended."""
        with self._lock:
            if not self._ended.is_set():
                self._subscribers.append(subscriber)
                return
        subscriber(self._how)

    def wait(self) -> str:
        """Wait for its end; how it ended, as a message."""
        self._ended.wait()
        return self._how

    def kill(self) -> None:
        with self._lock, contextlib.suppress(ProcessLookupError):
            if not self._ended.is_set():  # else the process may be at work for another run
                os.kill(self.handle["pid"], signal.SIGKILL)

    def _wait_until_gone(self) -> None:
        runners.wait(self.handle)
        self.end("it is gone")


def await_end(gang: Sequence[Started], gone: runners.Gone) -> None:
    """Call `gone` when all of some runners that this server has started are gone, with the end of node 0."""
    ends = itertools.chain(gang)

    def next_end(how: str = "") -> None:
        following = next(ends, None)
        if following is None:
            gone(gang[0].wait())
        else:
            following.then(next_end)

    next_end()


@dataclass(frozen=True)
class _Process:
    """The nursery itself, and what it answers."""

    child: subprocess.Popen[bytes]
    answers: queue.SimpleQueue[Started | OSError]

    def ask(self, arguments: Sequence[str]) -> Started | OSError:
        assert self.child.stdin is not None
        with contextlib.suppress(BrokenPipeError, ValueError):  # it has ended, or was closed: the reader notices
            self.child.stdin.write(json.dumps(arguments).encode() + b"\n")
            self.child.stdin.flush()
        try:
            return self.answers.get(timeout=ANSWERS_WITHIN)
        except queue.Empty:
            return NurseryEnded(f"what starts node runners has not answered for {ANSWERS_WITHIN:g} seconds")

    def end(self, within: float) -> None:
        """Have it end by itself, and kill it when it does not do so in time."""
        assert self.child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.close()
        try:
            self.child.wait(within)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


class Nursery:
    """The nursery of one SDK folder, whose process is there once it is needed. Any thread may start a runner."""

    def __init__(self, sdk: Path) -> None:
        self._sdk = sdk
        self._asking = threading.Lock()
        self._changing = threading.Lock()  # held for moments only: whoever closes does not wait for an answer
        self._process: _Process | None = None
        self._closed = False

    def start(self, folder: Path, *options: str) -> Started:
        """Start a node runner in a session of its own, so that it outlives the server. OSError when it cannot be.

        After NurseryEnded a runner may be at work in the folder nevertheless, or begin to be: its nursery was killed
        before it could answer.
        """
        (folder / "streams" / "runner.log").open("ab").close()  # here a full disk can still be reported
        with self._asking:
            answer = self._ask(folder, *options)
            if isinstance(answer, NurseryEnded):  # since it was last needed: another one follows it
                answer = self._ask(folder, *options)
        if isinstance(answer, OSError):
            raise answer
        return answer

    @contextlib.contextmanager
    def none_starts(self) -> Iterator[None]:
        """No runner takes up another run meanwhile: whoever is found at work for a run works for that one."""
        with self._asking:
            yield

    def get_ready(self) -> None:
        """Start the process before the first runner is needed."""
        self._at_hand()

    def close(self) -> None:
        """The process ends; the runners go on. A start that is under way ends with it."""
        with self._changing:
            self._closed = True
            process, self._process = self._process, None
        if process is not None:
            process.end(ENDS_WITHIN)

    def _ask(self, folder: Path, *options: str) -> Started | OSError:
        process = self._at_hand()
        answer = process.ask([str(folder), *options])
        if isinstance(answer, NurseryEnded):
            with self._changing:
                self._process = None
            process.end(0.0)
        return answer

    def _at_hand(self) -> _Process:
        with self._changing:
            if self._closed:
                raise NurseryEnded("the server is ending")
            if self._process is None:
                self._process = self._open()
            return self._process

    def _open(self) -> _Process:
        environment = {name: value for name, value in os.environ.items() if name not in runners.HIDDEN_FROM_RUNS}
        # -I -S: the runner needs only the standard library, and starts in a fraction of the time without site.
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(self._sdk / "runyard" / "node"), "--nursery", "." * ROOM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd="/",
            start_new_session=True,
        )
        process = _Process(child, queue.SimpleQueue())
        assert child.stdout is not None
        reading = (child.stdout, process.answers)  # not the process itself: it ends when nobody has it any more
        threading.Thread(target=_read, args=reading, name="nursery", daemon=True).start()
        return process


def _read(output: IO[bytes], answers: queue.SimpleQueue[Started | OSError]) -> None:
    """Pass on what a nursery reports, until it has ended."""
    alive: dict[int, Started] = {}
    over = threading.Event()
    threading.Thread(target=_look_after, args=(alive, over), name="nursery lookout", daemon=True).start()
    try:
        with output:
            for line in output:
                report = json.loads(line)
                if "pid" in report:
                    started = alive[report["pid"]] = Started(runners.handle_of(report["pid"]))
                    answers.put(started)
                elif "errno" in report:
                    answers.put(OSError(report["errno"], os.strerror(report["errno"])))
                else:
                    alive.pop(report["ended"]).set_status(report["status"])
    finally:  # also after a report that cannot be read: nobody may wait for ever
        over.set()
        for started in alive.values():
            started.set_status(None)
        answers.put(NurseryEnded("what starts node runners has ended"))


def _look_after(alive: dict[int, Started], over: threading.Event) -> None:
    """Notice runners that have ended and are not reported: their nursery was stopped, and reports nothing."""
    unreported: set[int] = set()
    while not over.wait(LOOK_EVERY):
        seen, unreported = unreported, {pid for pid in list(alive) if not runners.at_work(pid)}
        for pid in seen & unreported:
            started = alive.get(pid)
            if started is not None:  # else it was reported in this moment
                started.end("it is gone")
