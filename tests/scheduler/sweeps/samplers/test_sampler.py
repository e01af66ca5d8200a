"""Every sampler gives what its space has, and the same again after a restart."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.contracts.sweeps.sweep import Sweep
from runyard.scheduler.sweeps.samplers.sampler import sampler_of

SPACE: dict[str, Any] = {"a": ["choice", [["x", "y"]]], "b": ["uniform", [1, 2]], "c": ["quniform", [0, 10, 2]]}
GRID = {"a": ["choice", [["x", "y"]]], "b": ["choice", [[1, 2, 3]]]}


def sweep(name: str, space: Any = SPACE, **properties: Any) -> Sweep:
    return Sweep({"name": name, "parameter_space": space, "properties": properties}, "m", "maximize", 10, 2)


@pytest.mark.parametrize(
    "asked",
    [
        sweep("RANDOM", seed=3),
        sweep("RANDOM", seed=3, rule="sobol"),
        sweep("BayesianOptimization", seed=3),
        sweep("GRID", GRID),
    ],
    ids=["random", "sobol", "bayesian", "grid"],
)
def test_values_are_of_the_space_and_follow_from_seed_and_number(asked: Sweep) -> None:
    first, again = sampler_of(asked), sampler_of(asked)
    given = [first.sample(number, []) for number in range(5)]
    assert [again.sample(number, []) for number in reversed(range(5))] == given[::-1]
    for each in given:
        assert each is not None
        assert list(each) == list(asked.space)
        assert each["a"] in ("x", "y")
        assert each.get("c", 0) in range(0, 11, 2)
    assert len({str(each) for each in given}) == 5
