"""Memory of processes: what one holds, and whether the kernel has killed one for it."""

from __future__ import annotations

import os


def memory_of(pid: int) -> int:
    """Resident bytes of a process; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def kills() -> int:
    """How many processes the kernel has killed so far because the group of this process had no memory left."""
    for path in _counters():
        try:
            with open(path, encoding="ascii") as file:
                counts = dict(line.split()[:2] for line in file if " " in line)
            if "oom_kill" in counts:
                return int(counts["oom_kill"])
        except (OSError, ValueError):
            continue
    return 0


def _counters() -> list[str]:
    """The files that may tell, in both versions of control groups."""
    found = []
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            for line in file:
                _, controllers, path = line.rstrip("\n").split(":", 2)
                path = path.strip("/")
                if not controllers:
                    found.append(os.path.join("/sys/fs/cgroup", path, "memory.events"))
                elif "memory" in controllers.split(","):
                    found.append(os.path.join("/sys/fs/cgroup/memory", path, "memory.oom_control"))
    except (OSError, ValueError):
        return []
    return [*found, "/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"]
