"""Parameter expressions: what a parameter of a sweep may be. Each is `[name, arguments]`, as in SDK v1."""

from __future__ import annotations

from typing import Any, List

from runyard.contracts.sweeps import space
from runyard.contracts.sweeps.space import BadSpace
from runyard.sdk.exceptions import HyperDriveConfigException

Expression = List[Any]


def choice(*options: Any) -> Expression:
    """One of some options, given one by one, or as one list or range.

    >>> choice(25, 50, 100)
    ['choice', [[25, 50, 100]]]
    >>> choice(range(3))
    ['choice', [[0, 1, 2]]]
    """
    if len(options) == 1 and isinstance(options[0], (list, tuple, range)):
        return _checked(space.CHOICE, [list(options[0])])
    return _checked(space.CHOICE, [list(options)])


def randint(upper: int) -> Expression:
    """A whole number from 0 to `upper` - 1."""
    return _checked(space.RANDINT, [upper])


def uniform(min_value: float, max_value: float) -> Expression:
    """A number between two others, each as likely."""
    return _checked(space.UNIFORM, [min_value, max_value])


def quniform(min_value: float, max_value: float, q: int) -> Expression:
    """The same, rounded to a multiple of `q`."""
    return _checked(space.QUNIFORM, [min_value, max_value, q])


def loguniform(min_value: float, max_value: float) -> Expression:
    """exp of a number between two exponents: `loguniform(-6, -1)` is between 0.0025 and 0.37."""
    return _checked(space.LOGUNIFORM, [min_value, max_value])


def qloguniform(min_value: float, max_value: float, q: int) -> Expression:
    """The same, rounded to a multiple of `q`."""
    return _checked(space.QLOGUNIFORM, [min_value, max_value, q])


def normal(mu: float, sigma: float) -> Expression:
    """A number of the normal distribution."""
    return _checked(space.NORMAL, [mu, sigma])


def qnormal(mu: float, sigma: float, q: int) -> Expression:
    """The same, rounded to a multiple of `q`."""
    return _checked(space.QNORMAL, [mu, sigma, q])


def lognormal(mu: float, sigma: float) -> Expression:
    """exp of a number of the normal distribution."""
    return _checked(space.LOGNORMAL, [mu, sigma])


def qlognormal(mu: float, sigma: float, q: int) -> Expression:
    """The same, rounded to a multiple of `q`."""
    return _checked(space.QLOGNORMAL, [mu, sigma, q])


def _checked(name: str, arguments: list[Any]) -> Expression:
    try:
        space.expression("", [name, arguments])
    except BadSpace as error:
        raise HyperDriveConfigException(str(error)) from None
    return [name, arguments]
