"""From a number between 0 and 1 to a value of a parameter: the inverse of each distribution."""

from __future__ import annotations

import math
from statistics import NormalDist

from runyard.contracts.sweeps import space as spaces
from runyard.contracts.sweeps.space import Expression, Value

_SMALLEST = 1e-12


def value(expression: Expression, at: float) -> Value:
    """The value of a parameter at a place between 0 and 1.

    >>> value(Expression("choice", (["a", "b"],)), 0.6), value(Expression("quniform", (0, 10, 5)), 0.6)
    ('b', 5.0)
    """
    if expression.name == spaces.CHOICE:
        return expression.options[min(int(at * len(expression.options)), len(expression.options) - 1)]
    if expression.name == spaces.RANDINT:
        upper = int(expression.arguments[0])
        return min(int(at * upper), upper - 1)
    first, second = float(expression.arguments[0]), float(expression.arguments[1])
    if expression.name in spaces.BELLS:
        drawn = NormalDist(first, second).inv_cdf(min(max(at, _SMALLEST), 1 - _SMALLEST)) if second else first
    else:
        drawn = first + (second - first) * at
    if expression.name in (spaces.LOGUNIFORM, spaces.QLOGUNIFORM, spaces.LOGNORMAL, spaces.QLOGNORMAL):
        drawn = math.exp(drawn)
    step = expression.step
    return drawn if step is None else round(drawn / step) * step
