"""Cores and memory of a replica, where this machine can hold them: a control group, else affinity and a watch.

A part of a core counts as a whole one: less would make a service slow and no other faster while the machine is idle.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
from pathlib import Path
from typing import Callable

from runyard.node.log import log_line
from runyard.system.files import content

ROOT = Path("/sys/fs/cgroup")
PERIOD = 100_000


class Limits:
    """What one replica may use. `enter` is called in its new process; `close` when that is gone."""

    def __init__(self, name: str, cores: float | None, memory: int | None, root: Path = ROOT) -> None:
        self.memory = memory
        self._cores = None if cores is None else math.ceil(cores)
        self._group: Path | None = None
        if cores is None and memory is None:
            return
        self._group = _group(root, name, self._cores, memory)
        if self._group is not None:
            log_line(f"limits: {self._words()} by the control group {self._group}")
            return
        if self._cores is not None and self._affinity():
            log_line(f"limits: {self._cores} of the cores of this machine by affinity")
        if memory is not None:
            log_line(f"limits: {memory >> 20} MB of memory; the process is started anew when it has more")

    @property
    def held_by_kernel(self) -> bool:
        return self._group is not None

    def enter(self) -> Callable[[], None] | None:
        """What the new process does before it becomes the service."""
        group = self._group
        if group is not None:
            target = str(group / "cgroup.procs")

            def join() -> None:
                with open(target, "w") as file:
                    file.write(str(os.getpid()))

            return join
        allowed = self._affinity()
        return None if allowed is None else lambda: os.sched_setaffinity(0, allowed)

    def kills(self) -> int:
        """How often the kernel has ended a process of the group for lack of memory."""
        if self._group is None:
            return 0
        with contextlib.suppress(OSError, ValueError):
            for line in content(str(self._group / "memory.events")).decode().splitlines():
                if line.startswith("oom_kill "):
                    return int(line[9:])
        return 0

    def close(self) -> None:
        if self._group is not None:
            with contextlib.suppress(OSError):
                self._group.rmdir()

    def _affinity(self) -> set[int] | None:
        available = getattr(os, "sched_getaffinity", None)
        if self._cores is None or available is None:
            return None
        cores = sorted(available(0))
        return set(cores[: self._cores]) if self._cores < len(cores) else None

    def _words(self) -> str:
        parts = [f"{self._cores} cores" if self._cores is not None else ""]
        parts.append(f"{self.memory >> 20} MB of memory" if self.memory is not None else "")
        return ", ".join(part for part in parts if part)


def _group(root: Path, name: str, cores: int | None, memory: int | None) -> Path | None:
    """A control group (version 2) for the replica; None where none can be made."""
    try:
        lines = content("/proc/self/cgroup").decode().splitlines()
    except OSError:
        return None
    own = next((line[3:].lstrip("/") for line in lines if line.startswith("0::")), None)
    if own is None:
        return None
    for parent in (root / own, (root / own).parent):
        if root not in (parent, *parent.parents):
            continue
        group = parent / f"runyard-{name}"
        try:
            group.mkdir(exist_ok=True)
            if not (group / "cgroup.procs").exists():  # a plain folder: the kernel's groups are mounted elsewhere
                group.rmdir()
                continue
            if memory is not None:
                (group / "memory.max").write_text(str(memory))
                with contextlib.suppress(OSError):
                    (group / "memory.oom.group").write_text("1")
            if cores is not None:
                (group / "cpu.max").write_text(f"{cores * PERIOD} {PERIOD}")
            return group
        except OSError:  # no rights to it, or its controllers are not given to groups below
            with contextlib.suppress(OSError):
                group.rmdir()
    return None


def resident(pids: set[int]) -> int:
    """Bytes of memory that some processes have, what they share counted once each."""
    page = os.sysconf("SC_PAGE_SIZE")
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int(content(f"/proc/{pid}/statm").split()[1]) * page
    return total


def end_hard(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
