"""Values of expressions: their ranges and their meaning are SDK v1's."""

from __future__ import annotations

import math

import pytest

from runyard.contracts.sweeps.space import Expression
from runyard.scheduler.sweeps.samplers.draws import value


@pytest.mark.parametrize(
    ("name", "arguments", "at", "expected"),
    [
        ("choice", (["a", "b", "c"],), 0.34, "b"),
        ("choice", (["a"],), 0.9999999, "a"),
        ("randint", (4,), 0.99, 3),
        ("uniform", (10, 20), 0.5, 15.0),
        ("quniform", (0, 10, 5), 0.6, 5.0),
        ("loguniform", (-6, -1), 0.0, math.exp(-6)),
        ("loguniform", (-6, -1), 1.0, math.exp(-1)),
        ("qloguniform", (0, 3, 4), 1.0, 20.0),
        ("normal", (5, 2), 0.5, 5.0),
        ("normal", (5, 0), 0.1, 5.0),
        ("qnormal", (7, 2, 5), 0.5, 5.0),
        ("lognormal", (1, 2), 0.5, math.e),
        ("qlognormal", (1, 2, 1), 0.5, 3.0),
    ],
)
def test_a_place_becomes_a_value(name: str, arguments: tuple[object, ...], at: float, expected: object) -> None:
    assert value(Expression(name, arguments), at) == (
        pytest.approx(expected) if isinstance(expected, float) else expected
    )


@pytest.mark.parametrize("at", [0.0, 1e-300, 1.0 - 1e-16, 0.9999999999999999])
def test_no_place_gives_what_is_no_number(at: float) -> None:
    for name in ("normal", "lognormal"):
        assert math.isfinite(value(Expression(name, (0, 1)), at))
