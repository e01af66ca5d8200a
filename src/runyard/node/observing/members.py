"""The processes of a run on this node: how much processor, memory and disk they take together, from /proc."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Collection, Iterable, NamedTuple

from runyard.system.files import content

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Taken(NamedTuple):
    """By the processes together. `busy`, `read` and `written` are what was added since the look before."""

    processes: int
    memory: int
    busy: float  # seconds
    read: int
    written: int


class _Counters(NamedTuple):
    busy: float
    read: int
    written: int


@dataclass
class Members:
    """Everything below `above`, a process of the run or its node runner, which does not count itself. `spared` and what
    is below them serve the run and are no part of it. Processes that the kernel gave another parent are below the node
    runner all the same, because it adopts them."""

    above: int
    spared: Collection[int] = ()
    _before: dict[int, _Counters] = field(default_factory=dict)

    @property
    def pids(self) -> Collection[int]:
        """Those that were there at the last look."""
        return self._before

    def look(self) -> Taken:
        now: dict[int, _Counters] = {}
        anonymous = shared = read = written = 0
        busy = 0.0
        for pid in self._pids():
            try:
                pages = content(f"/proc/{pid}/statm").split()
                counters = _counters(pid)
            except (OSError, ValueError, IndexError):
                continue  # it has ended
            now[pid] = counters
            before = self._before.get(pid, _Counters(0.0, 0, 0))
            busy += max(0.0, counters.busy - before.busy)
            read += max(0, counters.read - before.read)
            written += max(0, counters.written - before.written)
            anonymous += int(pages[1]) - int(pages[2])
            shared = max(shared, int(pages[2]))  # mostly the same pages in each: libraries, shared tensors
        self._before = now
        return Taken(len(now), (anonymous + shared) * PAGE, busy, read, written)

    def _pids(self) -> list[int]:
        found: list[int] = []
        waiting = [self.above]
        while waiting:
            for child in children_of(waiting.pop()):
                if child not in self.spared:
                    found.append(child)
                    waiting.append(child)
        return found


def children_of(pid: int) -> Iterable[int]:
    """The children that any thread of a process has started."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        try:
            yield from map(int, content(f"/proc/{pid}/task/{thread}/children").split())
        except OSError:
            continue  # it has ended, or this kernel does not tell


def _counters(pid: int) -> _Counters:
    text = content(f"/proc/{pid}/stat")
    fields = text[text.rindex(b")") + 2 :].split()
    busy = (int(fields[11]) + int(fields[12])) / TICKS
    try:
        lines = content(f"/proc/{pid}/io").splitlines()
    except OSError:  # of another user
        return _Counters(busy, 0, 0)
    io = dict(line.split(b": ") for line in lines if b": " in line)
    return _Counters(busy, int(io.get(b"read_bytes", 0)), int(io.get(b"write_bytes", 0)))
