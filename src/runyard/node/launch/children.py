"""The processes that a node runner has started: each with its log, reaped when it ends, and ended together.

All of it is for the main thread: the kernel kills a child when the thread that started it ends.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Mapping

from runyard.node.launch import launch, processes
from runyard.node.log import log_line
from runyard.node.outcome import exits
from runyard.node.outcome.exits import Exit
from runyard.node.signals import Signals
from runyard.node.state import Launched
from runyard.system.processes import started

if TYPE_CHECKING:
    import subprocess


class Child:
    """A process that was started here; `exit` is set once it was seen to have ended, and `at` is when."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.pid, self.log = process.pid, log
        self.launched = Launched(process.pid, started(process.pid))
        self.exit: Exit | None = None
        self.at = 0.0  # of time.monotonic()
        self._process = process

    def ended(self, status: int) -> None:
        """Note the status that `waitpid` returned."""
        self.exit, self.at = exits.from_wait_status(status), time.monotonic()
        self._process.returncode = status  # it is reaped: Popen must not wait for that id again


class Children:
    """What a node runner has started for its run. Whatever those processes start in turn belongs to it as well."""

    def __init__(self, cookie: str, grace: float, signals: Signals) -> None:
        self.all: list[Child] = []
        self.spared: set[int] = set()  # processes that serve those of the run, and are ended after them
        self._cookie, self._grace, self._signals = cookie, grace, signals

    def start(self, argv: list[str], work: Path, variables: Mapping[str, str], log: Path) -> Child:
        """Start a program in a session of its own; RunProblem when it cannot be."""
        child = Child(launch.start(argv, work, variables, log), log)
        self.all.append(child)
        log_line(f"started process {child.pid}: {' '.join(argv)}")
        return child

    def launched(self) -> list[Launched]:
        return [child.launched for child in self.all]

    def reap(self) -> list[Child]:
        """Note the processes that have ended, adopted ones included; returns those that were started here."""
        ended = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            for child in self.all:
                if child.pid == pid and child.exit is None:
                    child.ended(status)
                    ended.append(child)
        return ended

    def end(self) -> list[Child]:
        """End everything that lives of the run on this node, also what its processes have left behind; returns what was
        started here and ended meanwhile."""
        living = self.living()
        if living and self.all and all(child.exit is not None for child in self.all):
            left = ", ".join(str(each.pid) for each in living)
            log_line(f"ending {len(living)} processes that the script has left: {left}")
        ended = []

        def pause(seconds: float) -> None:
            self._signals.wait(seconds)
            ended.extend(self.reap())

        remaining = processes.end(self.living, self._grace, pause) if living else []
        if remaining:
            log_line(f"these processes could not be ended: {', '.join(str(process.pid) for process in remaining)}")
        ended.extend(self.reap())
        for child in self.all:
            if child.exit is None:  # it hangs in the kernel, and will be gone when it comes out
                child.exit, child.at = Exit(None, 9), time.monotonic()
                ended.append(child)
        return ended

    def living(self) -> list[processes.Process]:
        return [each for each in processes.below_me(self._cookie) if each.pid not in self.spared]
