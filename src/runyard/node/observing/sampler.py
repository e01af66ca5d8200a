"""One look at this node and at the run's processes, as numbers by the names of `runyard.contracts.observed.load`."""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path
from typing import Collection

from runyard.contracts.observed import load
from runyard.node.observing import gpus, mac
from runyard.node.observing.linux import Counters, Machine
from runyard.node.observing.members import Members

LINUX = sys.platform == "linux"
NEAR = 0.8  # of the memory there may be: from here on it is looked at closely
ELSEWHERE = 0.0 if LINUX else 0.02  # seconds of processor time that another program takes for one look
STEP = 0.02  # the same for a change of so much of it since the last look


def last() -> dict[str, float]:
    """What is known when the processes have ended: the most memory that a single one of them ever had."""
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {load.MEMORY_PEAK: float(peak * (1024 if LINUX else 1))} if peak else {}


class Sampler:
    """`folder` is where the run writes, `above` the process below which those of the run are."""

    def __init__(self, folder: Path, above: int, spared: Collection[int] = ()) -> None:
        self._folder, self._above, self._spared = str(folder), above, spared
        self._machine = Machine()
        self._members = Members(above, spared)
        self._gpus = gpus.find()
        self._counters, self._at = Counters(), 0.0
        self._run_memory = 0.0
        self.moves = False  # memory is nearly used up, or changes quickly

    def sample(self) -> dict[str, float]:
        """The numbers of now; rates are those since the last call, and are not among the first ones."""
        values = self._of_linux() if LINUX else self._of_mac()
        self._add_space(values)
        if self._gpus is not None:
            values.update(self._gpus(self._members.pids))
        self._judge(values)
        return values

    def _of_linux(self) -> dict[str, float]:
        now, counters, taken = time.monotonic(), self._machine.counters(), self._members.look()
        memory = self._machine.memory()
        values = {
            load.CORES: float(len(os.sched_getaffinity(0))),
            load.MEMORY_RUN: float(taken.memory),
            load.PROCESSES: float(taken.processes),
        }
        if memory is not None:
            values[load.MEMORY], values[load.MEMORY_LIMIT] = float(memory.used), float(memory.limit)
        seconds = now - self._at
        if self._at and seconds > 0:
            grown = {
                load.CPU: counters.busy - self._counters.busy,
                load.CPU_RUN: taken.busy,
                load.DISK_READ: counters.read - self._counters.read,
                load.DISK_WRITE: counters.written - self._counters.written,
                load.RUN_READ: taken.read,
                load.RUN_WRITE: taken.written,
                load.RECEIVED: counters.received - self._counters.received,
                load.SENT: counters.sent - self._counters.sent,
            }
            values.update({name: max(0.0, number / seconds) for name, number in grown.items()})
        self._counters, self._at = counters, now
        return values

    def _of_mac(self) -> dict[str, float]:
        values = {load.CORES: float(os.cpu_count() or 1), load.MEMORY_LIMIT: float(mac.memory_limit())}
        taken = mac.look(self._above, self._spared)
        if taken is not None:
            values[load.CPU], values[load.CPU_RUN] = taken.node_cores, taken.cores
            values[load.MEMORY_RUN], values[load.PROCESSES] = float(taken.memory), float(taken.processes)
        return values

    def _add_space(self, values: dict[str, float]) -> None:
        try:
            disk = os.statvfs(self._folder)
        except OSError:
            return
        values[load.SPACE_FREE] = float(disk.f_bavail * disk.f_frsize)
        values[load.SPACE_TOTAL] = float(disk.f_blocks * disk.f_frsize)

    def _judge(self, values: dict[str, float]) -> None:
        limit = values.get(load.MEMORY_LIMIT, 0.0)
        of_run = values.get(load.MEMORY_RUN, 0.0)
        used = max(values.get(load.MEMORY, 0.0), of_run)
        self.moves = bool(limit) and (used > NEAR * limit or abs(of_run - self._run_memory) > STEP * limit)
        self._run_memory = of_run
