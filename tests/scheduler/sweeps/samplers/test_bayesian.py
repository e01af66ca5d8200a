"""Bayesian sampling learns: within a budget it comes nearer to the optimum of a known function than chance does."""

from __future__ import annotations

from array import array
from statistics import median

import pytest

from runyard.contracts.sweeps.space import Space, parse
from runyard.scheduler.sweeps.samplers.bayesian import Bayesian
from runyard.scheduler.sweeps.samplers.independent import Independent
from runyard.scheduler.sweeps.samplers.sampler import Sampler
from runyard.scheduler.sweeps.trials import Parameters, Trial

SPACE = parse({"x": ["uniform", [-10, 10]], "y": ["uniform", [-10, 10]], "kind": ["choice", [["good", "bad", "ugly"]]]})
SEEDS = range(5)
BUDGET = 60
NEAR = 2.0
"""A loss that is below this counts as found: one point in some 200 has it."""


def loss(at: Parameters) -> float:
    """The optimum is 0, at (3, -2) with the good kind."""
    return float((at["x"] - 3) ** 2 + (at["y"] + 2) ** 2 + {"good": 0, "bad": 20, "ugly": 40}[at["kind"]])


def search(sampler: Sampler) -> float:
    history: list[Trial] = []
    for number in range(BUDGET):
        parameters = sampler.sample(number, history)
        assert parameters is not None
        history.append(Trial(number, f"t{number}", parameters, False, array("d", [loss(parameters)]), "Completed"))
    return min(trial.best or 0.0 for trial in history)


def test_it_finds_what_chance_does_not() -> None:
    learned = [search(Bayesian(SPACE, {"seed": seed}, False)) for seed in SEEDS]
    by_chance = [search(Independent(SPACE, {"seed": seed}, False)) for seed in SEEDS]
    assert median(learned) < NEAR < median(by_chance), (learned, by_chance)
    assert sum(value < NEAR for value in learned) > sum(value < NEAR for value in by_chance)


def test_what_is_kept_of_former_samples_changes_none() -> None:
    """A sample follows from the history as it is, also where trials were under way at the last look."""
    kept = Bayesian(SPACE, {"seed": 5}, False)
    history: list[Trial] = []
    for number in range(40):
        parameters = kept.sample(number, history)
        assert parameters == Bayesian(SPACE, {"seed": 5}, False).sample(number, history)
        assert parameters is not None
        if number >= 4:  # four at once: one more value, and then the end
            history[number - 2].values.append(loss(history[number - 2].parameters) + 5)
            history[number - 4].values.append(loss(history[number - 4].parameters))
            history[number - 4].status = "Completed" if number % 5 else "Failed"
        history.append(Trial(number, f"t{number}", parameters, False))


def test_trials_under_way_and_strange_ones_do_no_harm() -> None:
    space: Space = parse({"x": ["quniform", [0, 100, 10]], "layers": ["choice", [[[1, 2], [3]]]]})
    history = [
        Trial(0, "t0", {"x": 10.0, "layers": [3]}, True, array("d", [0.5]), "Completed"),
        Trial(1, "t1", {"x": 20.0, "layers": [1, 2]}),
        Trial(2, "t2", {"x": 20.0, "layers": [1, 2]}, status="Failed"),
        Trial(3, "t3", {"x": 7.0, "layers": ["from elsewhere"]}, True, array("d", [0.9]), "Completed"),
        Trial(4, "t4", {"other": 1}, True, array("d", [0.9]), "Completed"),
        Trial(5, "t5", {"x": 30.0, "layers": [3]}, True, array("d", [float("inf")]), "Completed"),
    ]
    given = Bayesian(space, {"seed": 1}, True).sample(6, history)
    assert given is not None
    assert given["x"] in range(0, 101, 10)
    assert given["layers"] in ([1, 2], [3])


def test_a_choice_of_a_hundred_thousand() -> None:
    """Options that lie beside each other count as alike: it comes nearer to the best one than chance would."""
    space = parse({"x": ["choice", [list(range(100_000))]]})
    sampler = Bayesian(space, {"seed": 1}, False)
    history: list[Trial] = []
    for number in range(40):
        given = sampler.sample(number, history)
        assert given is not None
        distance = float(abs(given["x"] - 70_000))
        history.append(Trial(number, f"t{number}", given, False, array("d", [distance]), "Completed"))
    assert median(trial.best or 0.0 for trial in history[20:]) < 20_000


@pytest.mark.parametrize("number", [0, 1])
def test_the_server_does_not_load_it_before_it_is_needed(number: int) -> None:
    import subprocess
    import sys

    code = "import sys, runyard.server.app; assert 'optuna' not in sys.modules and 'numpy' not in sys.modules"
    if number:
        code = "import sys, runyard.scheduler.sweeps.samplers.bayesian; assert 'optuna' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
