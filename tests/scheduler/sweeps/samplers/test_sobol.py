"""Sobol fills the space more evenly than chance: of 16 points, one in each sixteenth."""

from __future__ import annotations

from runyard.contracts.sweeps.space import parse
from runyard.scheduler.sweeps.samplers.sobol import Sobol


def test_points_are_spread_evenly() -> None:
    sampler = Sobol(parse({"a": ["uniform", [0, 16]], "b": ["uniform", [0, 16]]}), {"seed": 4}, True)
    drawn = [sampler.sample(number, []) or {} for number in range(16)]
    for name in ("a", "b"):
        assert {int(each[name]) for each in drawn} == set(range(16))
