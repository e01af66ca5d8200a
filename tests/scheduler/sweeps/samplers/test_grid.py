"""A grid has every combination once, and then no more."""

from __future__ import annotations

from itertools import product

from runyard.contracts.sweeps.space import parse
from runyard.scheduler.sweeps.samplers.grid import Grid


def test_every_combination_once() -> None:
    grid = Grid(parse({"a": ["choice", [[1, 2]]], "b": ["choice", [["x", "y", "z"]]]}), {}, True)
    given = [grid.sample(number, []) for number in range(7)]
    assert given == [*({"a": a, "b": b} for a, b in product([1, 2], "xyz")), None]
