"""Ranks as threads of a test: each does the same work, and none of them may hang."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


def on_every_rank(size: int, work: Callable[[int], Any]) -> list[Any]:
    """What `work` returns for the number of each rank."""
    results: list[Any] = [None] * size

    def run(rank: int) -> None:
        results[rank] = work(rank)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a rank hangs"
    return results
