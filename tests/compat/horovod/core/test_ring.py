"""What goes round the ring arrives whole, whatever its size, with ranks as threads of one process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.compat.horovod.core.conftest import on_every_rank
from tests.support.ports import free_port

from runyard.compat.horovod.core.negotiator import Negotiator
from runyard.compat.horovod.core.places import Place
from runyard.compat.horovod.core.ring import Ring


def each(size: int, work: Callable[[Ring], Any]) -> list[Any]:
    port = free_port()

    def run(rank: int) -> Any:
        negotiator = Negotiator(Place(rank, size, rank, size, 0, 1, "127.0.0.1", port, "secret"))
        ring = Ring(negotiator, "test")
        try:
            return work(ring)
        finally:
            ring.close()
            negotiator.close()

    return on_every_rank(size, run)


def add(mine: Any, theirs: Any) -> None:
    np.add(mine, theirs, out=mine)


@pytest.mark.parametrize("size", [2, 3])
def test_sums_of_any_length(size: int) -> None:
    lengths = [0, 1, 2, 7, 3_000_001]

    def work(ring: Ring) -> list[bool]:
        good = []
        for length in lengths:
            array = np.arange(length, dtype=np.float64) * (ring.rank + 1)
            ring.reduce(array, add)
            good.append(bool((array == np.arange(length) * sum(range(1, size + 1))).all()))
        return good

    assert each(size, work) == [[True] * len(lengths)] * size


def test_parts_of_different_lengths_are_gathered() -> None:
    def work(ring: Ring) -> list[list[int]]:
        parts = [np.full(rank * 2, ring.rank if rank == ring.rank else -1) for rank in range(3)]
        ring.gather(parts)
        return [part.tolist() for part in parts]

    assert each(3, work) == [[[], [1, 1], [2, 2, 2, 2]]] * 3


def test_a_broadcast_larger_than_any_buffer() -> None:
    def work(ring: Ring) -> bool:
        array = np.full(2_000_000, ring.rank, np.int64)
        ring.broadcast(array, 1)
        return bool((array == 1).all())

    assert each(3, work) == [True] * 3


def test_a_neighbour_that_is_gone_is_an_error() -> None:
    def work(ring: Ring) -> str:
        if ring.rank == 1:
            ring.close()
            return "gone"
        with pytest.raises(OSError, match=r"rank 1|reset|closed|pipe"):
            ring.exchange(np.zeros(10, np.uint8), np.zeros(10, np.uint8))
        return "seen"

    assert each(2, work) == ["seen", "gone"]
