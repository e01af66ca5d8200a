"""Samplings: their documents are SDK v1's, and an expression from another sampling is refused."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.sdk.exceptions import HyperDriveConfigException
from runyard.sdk.hyperdrive.expressions import choice, loguniform, normal, uniform
from runyard.sdk.hyperdrive.sampling import (
    BayesianParameterSampling,
    GridParameterSampling,
    HyperParameterSampling,
    RandomParameterSampling,
)


def test_documents() -> None:
    space = {"--lr": loguniform(-6, -1)}
    assert RandomParameterSampling(space).to_json() == {"name": "RANDOM", "parameter_space": space}
    assert RandomParameterSampling(space, {"seed": 7}).to_json()["properties"] == {"seed": 7}
    assert GridParameterSampling({"a": choice(1)}).to_json()["name"] == "GRID"
    assert BayesianParameterSampling({"a": uniform(0, 1)}).to_json()["name"] == "BayesianOptimization"
    assert HyperParameterSampling("mine:Mine", {"a": choice(1)}).to_json()["name"] == "mine:Mine"


@pytest.mark.parametrize(
    ("kind", "space"),
    [
        (GridParameterSampling, {"a": uniform(0, 1)}),
        (BayesianParameterSampling, {"a": normal(0, 1)}),
        (BayesianParameterSampling, {"a": choice(1, "b")}),
        (RandomParameterSampling, {}),
        (RandomParameterSampling, {"a": 1}),
        (RandomParameterSampling, {"a": choice(1), "--a": choice(2)}),
        (RandomParameterSampling, None),
    ],
)
def test_what_does_not_fit(kind: Any, space: Any) -> None:
    with pytest.raises(HyperDriveConfigException):
        kind(space)


def test_distributions_that_a_subclass_supports() -> None:
    with pytest.raises(HyperDriveConfigException, match="this sampling takes choice"):
        HyperParameterSampling("RANDOM", {"a": uniform(0, 1)}, supported_distributions=["choice"])
