import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "conda_dependencies",
        "data_reference",
        "environment",
        "pip_requirements",
        "resource_configuration",
        "runconfig",
        "script_run_config",
    ],
)
def test_the_examples_run(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"runyard.sdk.{module}"))
    assert result.attempted > 0
    assert result.failed == 0
