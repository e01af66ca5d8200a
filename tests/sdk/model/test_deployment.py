"""`Model` has SDK v1's ways to serve: the arguments are taken in its order."""

from __future__ import annotations

import inspect

import pytest

from runyard.sdk.model import deploying, package, profile
from runyard.sdk.model.model import Model


@pytest.mark.parametrize(
    ("method", "function"),
    [
        (Model.deploy, deploying.deploy),
        (Model.package, package.package),
        (Model.profile, profile.profile),
        (Model.print_configuration, deploying.print_configuration),
    ],
)
def test_the_arguments_are_those_of_what_is_called(method: object, function: object) -> None:
    assert callable(method)
    assert callable(function)
    assert list(inspect.signature(method).parameters) == list(inspect.signature(function).parameters)
