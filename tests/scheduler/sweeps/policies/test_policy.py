"""When policies judge: at multiples of the interval, not before the delay."""

from __future__ import annotations

import pytest

from runyard.contracts.sweeps.sweep import Sweep
from runyard.scheduler.sweeps.policies.policy import policy_of


@pytest.mark.parametrize(
    ("name", "properties", "due"),
    [
        ("Default", {}, []),
        ("MedianStopping", {}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        ("MedianStopping", {"evaluation_interval": 3}, [3, 6, 9]),
        ("MedianStopping", {"evaluation_interval": 2, "delay_evaluation": 5}, [6, 8, 10]),
        ("Bandit", {"slack_factor": 0.1, "delay_evaluation": 9}, [9, 10]),
        ("ASHA", {"min_intervals": 1, "reduction_factor": 3}, [1, 3, 9]),
    ],
)
def test_when_a_trial_is_judged(name: str, properties: dict[str, object], due: list[int]) -> None:
    space = {"name": "GRID", "parameter_space": {"a": ["choice", [[1]]]}}
    policy = policy_of(Sweep(space, "m", "maximize", 1, 1, policy={"name": name, "properties": properties}))
    assert [interval for interval in range(1, 11) if policy.is_due(interval)] == due
