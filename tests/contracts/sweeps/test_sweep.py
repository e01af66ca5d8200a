"""A sweep as a document: it comes back as it was, and what could come to nothing is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from runyard.contracts.sweeps.sweep import BadSpace, Sweep

CHOICE = {"lr": ["choice", [[1, 2]]]}
GOOD = Sweep({"name": "RANDOM", "parameter_space": CHOICE}, "loss", "minimize", 4, 2)


def sampling(name: str, *expression: Any, **properties: Any) -> dict[str, Any]:
    return {"name": name, "parameter_space": {"lr": list(expression)}, "properties": properties}


def test_it_comes_back_as_it_was() -> None:
    GOOD.check()
    assert Sweep.from_dict({**GOOD.as_dict(), "of_a_later_version": 1}) == GOOD


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metric": " "}, "no name"),
        ({"goal": "best"}, "'maximize' or 'minimize'"),
        ({"runs": 0}, "max_total_runs"),
        ({"runs": True}, "max_total_runs"),
        ({"at_once": "4"}, "max_concurrent_runs"),
        ({"minutes": 0}, "max_duration_minutes"),
        ({"resume_from": list("abcdef")}, "5 sweeps at most"),
        ({"resume_children": ["a", "a"]}, "twice"),
        ({"resume_children": list("abcde")}, "more than max_total_runs"),
        ({"sampling": sampling("MAGIC", "choice", [[1]])}, "no sampling"),
        ({"sampling": sampling("GRID", "uniform", [0, 1])}, "A grid takes choice"),
        ({"sampling": sampling("BayesianOptimization", "normal", [0, 1])}, "Bayesian sampling takes"),
        ({"sampling": sampling("BayesianOptimization", "choice", [[1, "a"]])}, "mixes texts"),
        ({"sampling": sampling("BayesianOptimization", "quniform", [0, 1e6, 1])}, "whole numbers"),
        ({"sampling": sampling("BayesianOptimization", "quniform", [0, 10**6, 1])}, "more than 100000"),
        ({"sampling": sampling("RANDOM", "choice", [[1]], seed="x")}, "seed"),
        ({"sampling": sampling("GRID", "choice", [[1]], rule="sobol")}, "rule"),
        ({"policy": {"name": "Luck"}}, "no policy"),
        ({"policy": {"name": "Bandit"}}, "needs slack_factor"),
        ({"policy": {"name": "Bandit", "properties": {"slack_factor": 1, "slack_amount": 1}}}, "not both"),
        ({"policy": {"name": "Bandit", "properties": {"slack_factor": -1}}}, "from 0 on"),
        ({"policy": {"name": "Bandit", "properties": {"slack_factor": 1, "evaluation_interval": 0}}}, "from 1 on"),
        ({"policy": {"name": "MedianStopping", "properties": {"delay_evaluation": -1}}}, "from 0 on"),
        ({"policy": {"name": "TruncationSelection"}}, "truncation_percentage"),
        ({"policy": {"name": "TruncationSelection", "properties": {"truncation_percentage": 100}}}, "from 1 to 99"),
        ({"policy": {"name": "ASHA", "properties": {"reduction_factor": 1}}}, "from 2 on"),
        ({"policy": {"name": "MedianStopping", "properties": {"evaluaton_interval": 2}}}, "not 'evaluaton_interval'"),
        ({"policy": {"name": "ASHA", "properties": {"evaluation_interval": 2}}}, "takes min_intervals"),
    ],
)
def test_what_could_come_to_nothing_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(BadSpace, match=words):
        replace(GOOD, **change).check()


def test_a_policy_of_ones_own_takes_what_it_likes() -> None:
    replace(GOOD, policy={"name": "mine:Impatient", "properties": {"patience": 3}}).check()
