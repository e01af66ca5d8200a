"""A Linux machine as /proc and /sys show it: processors, memory and its limit, disks, network."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from runyard.system.files import content

TICKS = os.sysconf("SC_CLK_TCK")
SECTOR = 512
_UNLIMITED = 1 << 60  # what a control group without a limit says, or more
_NO_DISKS = re.compile(rb"(loop|ram|zram|dm-|md|sr|fd)\d")


class Counters(NamedTuple):
    """What only grows; rates are differences of two of them."""

    busy: float = 0.0  # seconds of all processors together
    read: int = 0
    written: int = 0
    received: int = 0
    sent: int = 0


class Memory(NamedTuple):
    used: int
    limit: int


class Machine:
    """`root` is where /proc and /sys are."""

    def __init__(self, root: str = "/") -> None:
        self._top = root.rstrip("/")
        self._groups = self._memory_groups()
        self._disks: frozenset[bytes] = self._whole_disks()

    def counters(self) -> Counters:
        return Counters(self._busy(), *self._disk(), *self._network())

    def memory(self) -> Memory | None:
        """What is used, and how much there may be: of the machine, or of the control group that limits it more."""
        found = dict(_sizes(self._read("proc/meminfo")))
        total = found.get(b"MemTotal", 0)
        if not total:
            return None
        machine = Memory(total - found.get(b"MemAvailable", found.get(b"MemFree", 0)), total)
        limited = [each for each in map(self._of_group, self._groups) if each is not None and each.limit < total]
        return min(limited, key=lambda each: each.limit, default=machine)

    def _busy(self) -> float:
        fields = self._read("proc/stat").split(b"\n", 1)[0].split()[1:9]
        if len(fields) < 5:
            return 0.0
        numbers = [int(each) for each in fields]
        return (sum(numbers) - numbers[3] - numbers[4]) / TICKS  # all but idle, and waiting for a disk

    def _disk(self) -> tuple[int, int]:
        read = written = 0
        for line in self._read("proc/diskstats").splitlines():
            fields = line.split()
            if len(fields) > 9 and fields[2] in self._disks:
                read += int(fields[5]) * SECTOR
                written += int(fields[9]) * SECTOR
        return read, written

    def _network(self) -> tuple[int, int]:
        received = sent = 0
        for line in self._read("proc/net/dev").splitlines()[2:]:
            name, _, rest = line.partition(b":")
            fields = rest.split()
            if name.strip() != b"lo" and len(fields) > 8:
                received += int(fields[0])
                sent += int(fields[8])
        return received, sent

    def _of_group(self, folder: str) -> Memory | None:
        """What a control group may use and does, without the files that the kernel keeps in memory meanwhile."""
        limit = self._number(f"{folder}/memory.max") or self._number(f"{folder}/memory.limit_in_bytes")
        used = self._number(f"{folder}/memory.current") or self._number(f"{folder}/memory.usage_in_bytes")
        if not limit or limit >= _UNLIMITED or used is None:
            return None
        stat = dict(line.split()[:2] for line in self._read(f"{folder}/memory.stat").splitlines() if b" " in line)
        inactive = stat.get(b"total_inactive_file", stat.get(b"inactive_file", b"0"))
        return Memory(max(0, used - int(inactive)), limit)

    def _memory_groups(self) -> list[str]:
        """The folders of the control groups that count this process's memory, those above them included."""
        found = []
        for line in self._read("proc/self/cgroup").decode("utf-8", "replace").splitlines():
            _, controllers, path = [*line.split(":", 2), "", ""][:3]
            if controllers and "memory" not in controllers.split(","):
                continue
            mount = "sys/fs/cgroup/memory" if controllers else "sys/fs/cgroup"
            parts = [part for part in path.split("/") if part and part != ".."]
            found += ["/".join([mount, *parts[:count]]) for count in range(len(parts), -1, -1)]
        return [folder for folder in found if Path(f"{self._top}/{folder}").is_dir()]

    def _whole_disks(self) -> frozenset[bytes]:
        """Not their parts, nor what is made of them: nothing is counted twice."""
        try:
            names = os.listdir(f"{self._top}/sys/block")
        except OSError:
            return frozenset()
        return frozenset(name.encode() for name in names if not _NO_DISKS.match(name.encode()))

    def _number(self, path: str) -> int | None:
        text = self._read(path).strip()
        return int(text) if text.isdigit() else None

    def _read(self, path: str) -> bytes:
        try:
            return content(f"{self._top}/{path}")
        except OSError:
            return b""


def _sizes(text: bytes) -> list[tuple[bytes, int]]:
    """The lines of /proc/meminfo, in bytes."""
    found = []
    for line in text.splitlines():
        name, _, rest = line.partition(b":")
        fields = rest.split()
        if fields and fields[0].isdigit():
            found.append((name, int(fields[0]) * 1024))
    return found
