"""Policies: their documents are SDK v1's, and what cannot judge is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runyard.sdk.exceptions import HyperDriveConfigException
from runyard.sdk.hyperdrive import policy


def test_documents() -> None:
    bandit = policy.BanditPolicy(evaluation_interval=2, slack_factor=0.1)
    assert bandit.to_json() == {
        "name": "Bandit",
        "properties": {"evaluation_interval": 2, "delay_evaluation": 0, "slack_factor": 0.1},
    }
    assert (bandit.evaluation_interval, bandit.delay_evaluation, bandit.slack_factor) == (2, 0, 0.1)
    assert policy.BanditPolicy(slack_amount=0.5).slack_factor is None
    assert policy.BanditPolicy(slack_factor=0).slack_factor == 0
    assert policy.NoTerminationPolicy().to_json() == {"name": "Default"}
    assert policy.MedianStoppingPolicy(3, 4).to_json()["properties"] == {
        "evaluation_interval": 3,
        "delay_evaluation": 4,
    }
    assert policy.TruncationSelectionPolicy(20).truncation_percentage == 20
    assert policy.AshaPolicy().to_json()["name"] == "ASHA"


@pytest.mark.parametrize(
    "make",
    [
        policy.BanditPolicy,
        lambda: policy.BanditPolicy(slack_factor=0.1, slack_amount=1),
        lambda: policy.BanditPolicy(evaluation_interval=0, slack_factor=0.1),
        lambda: policy.BanditPolicy(evaluation_interval=1.5, slack_factor=0.1),  # type: ignore[arg-type]
        lambda: policy.MedianStoppingPolicy(delay_evaluation=-1),
        lambda: policy.TruncationSelectionPolicy(0),
        lambda: policy.TruncationSelectionPolicy(100),
        lambda: policy.AshaPolicy(reduction_factor=1),
        lambda: policy.EarlyTerminationPolicy("no such"),
    ],
)
def test_nonsense(make: Callable[[], Any]) -> None:
    with pytest.raises(HyperDriveConfigException):
        make()
