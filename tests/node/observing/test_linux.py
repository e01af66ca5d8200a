"""What a machine says of itself: a limit of a container that is taken for the machine's memory hides why a run died."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from runyard.node.observing.linux import Machine, Memory

GIB = 1 << 30
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")

FILES = {
    "proc/stat": "cpu  200 0 100 9000 700 0 0 0 0 0\ncpu0 1 1 1 1\n",
    "proc/meminfo": f"MemTotal: {16 << 20} kB\nMemFree: 100 kB\nMemAvailable: {12 << 20} kB\n",
    "proc/diskstats": (
        " 8 0 sda 1 2 100 4 5 6 200 8 0 0 0\n 8 1 sda1 1 2 100 4 5 6 200 8 0 0 0\n 7 0 loop0 1 2 50 4 5 6 50 8 0 0\n"
    ),
    "proc/net/dev": "Inter-|\n face |\n    lo: 9 0 0 0 0 0 0 0 9 0\n  eth0: 1000 0 0 0 0 0 0 0 2000 0\n",
    "sys/block/sda/dev": "8:0",
    "sys/block/loop0/dev": "7:0",
}


def machine(root: Path, more: dict[str, str]) -> Machine:
    for name, text in {**FILES, **more}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Machine(str(root))


def test_nothing_is_counted_twice(tmp_path: Path) -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    assert machine(tmp_path, {}).counters() == (300 / ticks, 100 * 512, 200 * 512, 1000, 2000)


def test_memory_without_a_limit(tmp_path: Path) -> None:
    assert machine(tmp_path, {"proc/self/cgroup": "0::/a\n"}).memory() == Memory(4 * GIB, 16 * GIB)


@pytest.mark.parametrize(
    ("cgroup", "folder", "limit", "used", "inactive"),
    [
        ("0::/job/step\n", "sys/fs/cgroup/job", "memory.max", "memory.current", "inactive_file"),
        (
            "4:cpu,memory:/job/step\n",
            "sys/fs/cgroup/memory/job",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file",
        ),
    ],
)
def test_the_nearest_limit_counts(
    tmp_path: Path, cgroup: str, folder: str, limit: str, used: str, inactive: str
) -> None:
    """Of a group above the process's own, without what the kernel can drop at once."""
    found = machine(
        tmp_path,
        {
            "proc/self/cgroup": cgroup,
            f"{folder}/{limit}": f"{2 * GIB}\n",
            f"{folder}/{used}": f"{GIB}\n",
            f"{folder}/memory.stat": f"anon 5\n{inactive} {GIB // 2}\n",
            f"{folder}/step/{limit}": "max\n" if limit == "memory.max" else f"{(1 << 63) - 4096}\n",
        },
    )
    assert found.memory() == Memory(GIB // 2, 2 * GIB)


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    empty = Machine(str(tmp_path))
    assert empty.memory() is None
    assert empty.counters() == (0.0, 0, 0, 0, 0)


def test_this_machine() -> None:
    here = Machine()
    memory = here.memory()
    assert memory is not None
    assert 0 < memory.used < memory.limit
    assert here.counters().busy > 0
