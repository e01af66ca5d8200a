"""A module of SDK v1 that Runyard lacks: the import error says so, and probing for it goes on as for any other."""

from __future__ import annotations

import importlib
import importlib.util

import pytest

from runyard.sdk import absent_modules
from runyard.sdk.absent_modules import MODULES, MissingModules


def test_importing_one_says_what_is_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"azureml\.pipeline\.core is part of SDK v1, not of") as caught:
        importlib.import_module("azureml.pipeline.core")
    assert caught.value.name is not None
    with pytest.raises(ImportError, match="Sweep a script of your own"):
        from azureml import automl  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize(
    ("module", "instead"),
    [
        ("azureml.pipeline.steps", r"run\.submit_child"),
        ("azureml.train.automl", r"docs/sweeps\.md"),
        ("azureml.automl.core.shared.constants", r"docs/sweeps\.md"),
        ("azureml.contrib.train.rl", r"docs/engines/ray\.md"),
        ("azureml.contrib.interpret.explanation.explanation_client", "the package interpret"),
        ("azureml.contrib.notebook", "papermill"),
    ],
)
def test_what_will_not_come_is_refused_with_what_to_use(module: str, instead: str) -> None:
    """What a script names is what is spoken of, also where a package above it is missing already."""
    with pytest.raises(ModuleNotFoundError, match=rf"{module} is part of SDK v1, not of Runyard.*{instead}"):
        importlib.import_module(module)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_each_says_what_to_use(module: str) -> None:
    """Also of something below it that nobody has listed, and of what lies below a module that Runyard has."""
    with pytest.raises(ModuleNotFoundError, match=rf"{module}\.no_such is part of SDK v1, not of Runyard\. [A-Z]"):
        importlib.import_module(f"{module}.no_such")


def test_looking_for_one_finds_none() -> None:
    assert importlib.util.find_spec("azureml.pipeline") is None


def test_other_modules_are_left_to_python() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'azureml\.nothing_of_the_kind'"):
        importlib.import_module("azureml.nothing_of_the_kind")
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_package'"):
        importlib.import_module("no_such_package")


def test_it_comes_after_all_other_finders() -> None:
    import sys

    assert sys.meta_path.count(MissingModules) == 1
    assert "azureml.widgets" in MODULES
    assert importlib.import_module("azureml.widgets"), "one that Runyard has is found before"
    assert absent_modules._is_of_sdk_v1("azureml.core.image.anything")
    assert not absent_modules._is_of_sdk_v1("azureml.core.workspace")
