"""Starting node runners on this machine through a process that forks them (`runyard.node.nursery`), and their ends.

The nursery is the parent of the runners, so it alone is told how each has ended. It may be killed: the next start
makes another one, and the end of a runner is then seen, if not how.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from runyard.engines import runners
from runyard.engines.base import Handle

ROOM = 4096
"""Bytes that the title of a runner may have: `ps` shows the folder of its run."""

ENDS_WITHIN = 5.0
"""Seconds for it to end by itself: one that was stopped, say, must not keep the server from ending."""


class NurseryEnded(OSError):
    """The process that starts node runners has ended before it could answer."""


class Started:
    """A node runner that this server has started."""

    def __init__(self, pid: int) -> None:
        self.handle: Handle = runners.handle_of(pid)
        self._told = threading.Event()
        self._status: int | None = None

    def tell(self, status: int | None) -> None:
        """Its wait status; None when it cannot be known any more."""
        self._status = status
        self._told.set()

    def wait(self) -> str:
        """Wait for its end; how it ended, in words."""
        self._told.wait()
        if self._status is None:
            runners.wait(self.handle)
            return "it is gone"
        if os.WIFSIGNALED(self._status):
            return f"killed by {signal.Signals(os.WTERMSIG(self._status)).name}"
        return f"exit code {os.WEXITSTATUS(self._status)}"

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.handle["pid"], signal.SIGKILL)


def await_end(gang: Sequence[Started], gone: runners.Gone) -> None:
    """Wait, in a thread, for runners that this server has started. What node 0 says of its end is told."""

    def wait() -> None:
        ends = [each.wait() for each in gang]
        gone(ends[0])

    threading.Thread(target=wait, daemon=True).start()


class Nursery:
    """The nursery of one SDK folder, whose process is there once it is needed. Any thread may start a runner."""

    def __init__(self, sdk: Path) -> None:
        self._sdk = sdk
        self._asking = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[Started | OSError] = queue.SimpleQueue()

    def start(self, folder: Path, *options: str) -> Started:
        """Start a node runner in a session of its own, so that it outlives the server. OSError when it cannot be."""
        (folder / "streams" / "runner.log").open("ab").close()  # here a full disk can still be told
        with self._asking:
            answer = self._ask(folder, *options)
            if isinstance(answer, NurseryEnded):  # since it was last needed: another one follows it
                answer = self._ask(folder, *options)
        if isinstance(answer, OSError):
            raise answer
        return answer

    def get_ready(self) -> None:
        """Have the process there before the first runner is asked for."""
        with self._asking:
            self._process = self._process or self._open()

    def close(self) -> None:
        """The process ends; the runners go on."""
        with self._asking:
            self._end()

    def _ask(self, folder: Path, *options: str) -> Started | OSError:
        process = self._process = self._process or self._open()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the reader tells
            process.stdin.write(json.dumps([str(folder), *options]).encode() + b"\n")
            process.stdin.flush()
        answer = self._answers.get()
        if isinstance(answer, NurseryEnded):
            self._end()
        return answer

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            try:
                process.wait(ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _open(self) -> subprocess.Popen[bytes]:
        environment = {name: value for name, value in os.environ.items() if name not in runners.KEPT_FROM_RUNS}
        # -I -S: the runner needs only the standard library, and starts in a fraction of the time without site.
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(self._sdk / "runyard" / "node"), "--nursery", "." * ROOM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd="/",
            start_new_session=True,
        )
        self._answers = queue.SimpleQueue()
        assert process.stdout is not None
        reading = (process.stdout, self._answers)  # not the nursery itself, whose end ends the process
        threading.Thread(target=_read, args=reading, name="nursery", daemon=True).start()
        return process


def _read(said: IO[bytes], answers: queue.SimpleQueue[Started | OSError]) -> None:
    """Pass on what a nursery says, until it is gone."""
    alive: dict[int, Started] = {}
    with said:
        for line in said:
            words = json.loads(line)
            if "pid" in words:
                started = alive[words["pid"]] = Started(words["pid"])
                answers.put(started)
            elif "errno" in words:
                answers.put(OSError(words["errno"], os.strerror(words["errno"])))
            else:
                alive.pop(words["ended"]).tell(words["status"])
    for started in alive.values():
        started.tell(None)
    answers.put(NurseryEnded("what starts node runners has ended"))
