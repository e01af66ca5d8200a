"""If these fail, a worker that grows is not noticed, or one that was killed for it is not told so."""

from __future__ import annotations

import os

from runyard.serving import memory


def test_memory_of_a_process() -> None:
    assert memory.memory_of(os.getpid()) > 5_000_000
    assert memory.memory_of(1 << 30) == 0


def test_kills_are_counted_where_the_kernel_tells() -> None:
    assert memory.kills() >= 0
    assert all(path.startswith("/sys/fs/cgroup") for path in memory._counters())
