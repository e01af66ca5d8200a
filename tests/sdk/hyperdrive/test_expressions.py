"""Expressions have SDK v1's form, and refuse in words what they cannot be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runyard.sdk.exceptions import HyperDriveConfigException
from runyard.sdk.hyperdrive import expressions as e


def test_the_form() -> None:
    assert e.choice(1, 2) == ["choice", [[1, 2]]]
    assert e.choice([1, 2]) == e.choice(range(1, 3)) == ["choice", [[1, 2]]]
    assert e.choice("a") == ["choice", [["a"]]]
    assert e.choice([1, 2], [3]) == ["choice", [[[1, 2], [3]]]]
    assert e.randint(4) == ["randint", [4]]
    assert e.uniform(0, 1) == ["uniform", [0, 1]]
    assert e.quniform(0, 10, 2) == ["quniform", [0, 10, 2]]
    assert e.loguniform(-6, -1) == ["loguniform", [-6, -1]]
    assert e.qloguniform(0, 3, 1) == ["qloguniform", [0, 3, 1]]
    assert e.normal(0, 1) == ["normal", [0, 1]]
    assert e.qnormal(0, 1, 1) == ["qnormal", [0, 1, 1]]
    assert e.lognormal(0, 1) == ["lognormal", [0, 1]]
    assert e.qlognormal(0, 1, 1) == ["qlognormal", [0, 1, 1]]


@pytest.mark.parametrize(
    "make",
    [
        e.choice,
        lambda: e.choice([]),
        lambda: e.randint(0),
        lambda: e.uniform(1, 0),
        lambda: e.quniform(0, 1, 0.5),  # type: ignore[arg-type]
        lambda: e.loguniform(1, 0),
        lambda: e.normal(0, -1),
        lambda: e.uniform("a", 1),  # type: ignore[arg-type]
    ],
)
def test_nonsense(make: Callable[[], Any]) -> None:
    with pytest.raises(HyperDriveConfigException):
        make()


def test_an_expression_that_belongs_to_no_parameter_yet_is_named_by_itself() -> None:
    with pytest.raises(HyperDriveConfigException) as raised:
        e.uniform(1, 0)
    assert raised.value.message == "uniform: its smallest value 1 must be below its largest 0."
