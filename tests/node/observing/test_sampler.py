"""One look at the node: its numbers have names, and what will be out of memory soon is seen."""

from __future__ import annotations

import os
from pathlib import Path

from runyard.contracts.observed import load
from runyard.node.observing.sampler import LINUX, Sampler


def test_rates_come_with_the_second_look(tmp_path: Path) -> None:
    sampler = Sampler(tmp_path, os.getpid())
    first, second = sampler.sample(), sampler.sample()
    assert all(load.unit(name) for name in {**first, **second})
    assert first[load.SPACE_TOTAL] >= first[load.SPACE_FREE] > 0
    assert first[load.MEMORY_LIMIT] > 0
    if LINUX:
        assert load.CPU not in first
        assert second[load.CPU] >= 0


def test_memory_that_moves_or_is_nearly_used_up_is_looked_at_closely(tmp_path: Path) -> None:
    sampler = Sampler(tmp_path, os.getpid())
    limit = {load.MEMORY_LIMIT: 1000.0, load.MEMORY: 100.0}
    seen = []
    for of_run in (10.0, 100.0, 101.0):
        sampler._judge({**limit, load.MEMORY_RUN: of_run})
        seen.append(sampler.moves)
    assert seen == [False, True, False]
    sampler._judge({**limit, load.MEMORY: 900.0, load.MEMORY_RUN: 101.0})
    assert sampler.moves
