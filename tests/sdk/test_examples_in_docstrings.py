"""Examples in docstrings are what users copy: each one runs, and gives what it shows."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import runyard

SOURCE = Path(runyard.__file__).parent
PACKAGES = ("system", "contracts", "client", "sdk")
MODULES = [
    ".".join(("runyard", *path.relative_to(SOURCE).with_suffix("").parts))
    for package in PACKAGES
    for path in sorted((SOURCE / package).rglob("*.py"))
    if ">>>" in path.read_text("utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    assert {"runyard.sdk.environment.environment", "runyard.sdk.submit.script_run_config"} <= set(MODULES)
