"""If these fail, a server with many live runs stops for a third of a second every two, or keeps garbage for ever."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from runyard.server import garbage


class Knot:
    """An object that refers to itself, which only the collector frees."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_young_garbage_is_found_and_what_lives_is_left_alone() -> None:
    garbage.collect_young()
    gc.collect()
    full = gc.get_stats()[2]["collections"]
    lost = weakref.ref(Knot())
    kept = [Knot() for _ in range(50 * garbage.YOUNG[0])]  # enough for many looks at all, as Python does by itself
    assert lost() is None
    assert gc.get_stats()[2]["collections"] == full
    assert len(kept) == 50 * garbage.YOUNG[0]


def test_old_garbage_is_found_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    garbage.collect_young()
    knot = Knot()
    gc.collect()  # it is old now
    lost = weakref.ref(knot)
    del knot
    monkeypatch.setattr(garbage, "EVERY", 0.001)

    async def until_found() -> None:
        looking = asyncio.create_task(garbage.collect_seldom())
        while lost() is not None:
            await asyncio.sleep(0.001)
        looking.cancel()

    asyncio.run(asyncio.wait_for(until_found(), 60))
