"""Looks at the node every now and then while the run's processes live, and writes what it sees into a journal.

The journal is in a folder of its own, `observed/`, because what grows there is no reason for a delivery: it goes along
with the next one (`runyard.node.delivery.follow_loop`). A run that lasts for a day is looked at less often than one
that has just begun, unless its memory moves; and never so often that it takes more than `SHARE` of a processor.
"""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from pathlib import Path
from typing import Collection

from runyard.contracts import journal
from runyard.contracts.plan import OBSERVED
from runyard.node.log import log_line
from runyard.node.observing.sampler import ELSEWHERE, Sampler, last

PATIENCE = 6.0  # seconds for a look that is under way when the run ends
SHARE = 0.005  # of one processor, at most
PACES = ((60.0, 1.0), (600.0, 2.0), (3600.0, 5.0))  # up to this age of the run, look every so often
SLOWEST = 10.0


class Observer:
    """One thread, from `begin` until `end`."""

    def __init__(self, folder: Path, run_id: str, node: int, spared: Collection[int] = ()) -> None:
        writer = journal.node_writer(node, f"{journal.SYSTEM}-{os.getpid()}-{os.urandom(4).hex()}")
        self._file = folder / OBSERVED / "journal" / journal.file_name(run_id, writer)
        self._folder, self._spared = folder, spared
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="observer", daemon=True)
        self._began = time.monotonic()
        self._descriptor = -1
        self._left = b""  # of a line that the disk has not taken yet
        self._told: dict[str, float] = {}  # numbers that hardly ever change, as they were written last

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """The processes have ended: write what is known in the end, and look no more."""
        self._over.set()
        self._thread.join(PATIENCE)
        if self._thread.is_alive():
            log_line("the node is not observed any more: a disk or a driver does not answer")
            return  # it is left behind: nothing of the run waits for it
        try:
            self._write(last())
        except OSError as error:
            log_line(f"what was observed last could not be written: {error}")
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _work(self) -> None:
        try:
            # In this thread: a driver may take long to answer at first.
            sampler = Sampler(self._folder, os.getpid(), self._spared)
            while True:
                before = time.thread_time()
                self._write(sampler.sample())
                cost = time.thread_time() - before + ELSEWHERE
                if self._over.wait(pause(time.monotonic() - self._began, cost, sampler.moves)):
                    return
        except Exception as error:  # noqa: BLE001 - whatever /proc holds, the run goes on without
            log_line(f"the node is not observed any more: {type(error).__name__}: {error}")

    def _write(self, values: dict[str, float]) -> None:
        """Add a line. What the disk does not take is left out, but for the rest of a line that it took in part."""
        fresh = {name: _short(value) for name, value in values.items() if self._is_news(name, value)}
        if not fresh and not self._left:
            return
        try:
            if self._descriptor < 0:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._descriptor = os.open(str(self._file), flags, 0o600)
            if not self._left:
                record = [journal.OBSERVED, journal.SYSTEM, round(time.time(), 3), None, fresh]
                self._left = json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"
            self._left = self._left[os.write(self._descriptor, self._left) :]
        except OSError as error:
            if not (error.errno in (errno.ENOSPC, errno.EDQUOT) and self._descriptor >= 0):
                raise
            if self._left.startswith(b"["):
                self._left = b""  # nothing of it was written

    def _is_news(self, name: str, value: float) -> bool:
        if not name.endswith(_CONSTANT):
            return True
        if self._told.get(name) == value:
            return False
        self._told[name] = value
        return True


_CONSTANT = ("/cores", "limit", "/total")
"""Ends of the names of what a machine has, as opposed to what it does."""


def pause(age: float, cost: float, moves: bool) -> float:
    """Seconds until the next look at a run of this age, when the last one took `cost` seconds of processor time.

    >>> pause(5, 0.001, False), pause(300, 0.001, False), pause(86400, 0.001, False), pause(86400, 0.001, True)
    (1.0, 2.0, 10.0, 1.0)
    >>> pause(5, 0.02, True)
    4.0
    """
    usual = next((seconds for until, seconds in PACES if age < until), SLOWEST)
    return max(PACES[0][1] if moves else usual, cost / SHARE)


def _short(value: float) -> float | int:
    """Whole where it is; else three decimals, which is more than can be seen."""
    return int(value) if value == int(value) or abs(value) >= 1000 else round(value, 3)
