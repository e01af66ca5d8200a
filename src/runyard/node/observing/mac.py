"""A machine without /proc (macOS), as far as its `ps` tells: memory and processor of the run's processes."""

from __future__ import annotations

import os
import subprocess
from typing import Collection, NamedTuple

PATIENCE = 5.0  # seconds for the command


class Taken(NamedTuple):
    """By all processes of the machine (`node_cores`), and by those below one of them."""

    node_cores: float
    cores: float
    memory: int
    processes: int


def memory_limit() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def look(above: int, spared: Collection[int] = ()) -> Taken | None:
    try:
        asked = subprocess.run(
            ["ps", "-axo", "pid=,ppid=,rss=,%cpu="],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE,
            text=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return of_lines(asked.stdout, above, spared)


def of_lines(text: str, above: int, spared: Collection[int] = ()) -> Taken:
    """
    >>> of_lines("1 0 900 0.5\\n7 1 100 25.0\\n8 7 2048 150.0", above=7)
    Taken(node_cores=1.755, cores=1.5, memory=2097152, processes=1)
    """
    rows: dict[int, tuple[int, float]] = {}
    children: dict[int, list[int]] = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 4 and all(field.isdigit() for field in fields[:3]):
            pid, parent = int(fields[0]), int(fields[1])
            rows[pid] = int(fields[2]) * 1024, float(fields[3].replace(",", ".")) / 100
            children.setdefault(parent, []).append(pid)
    found: list[int] = []
    waiting = [above]
    while waiting:
        below = [each for each in children.get(waiting.pop(), ()) if each not in spared]
        found += below
        waiting += below
    memory = sum(rows[pid][0] for pid in found)
    return Taken(sum(cores for _, cores in rows.values()), sum(rows[pid][1] for pid in found), memory, len(found))
