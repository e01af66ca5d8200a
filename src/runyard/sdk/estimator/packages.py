"""The packages of an estimator: its lists and files, and what its framework brings, as one conda specification."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Sequence

from runyard.contracts import pip_requirements
from runyard.contracts.environment import conda_name
from runyard.sdk.environment import requirements_files
from runyard.sdk.environment.conda_dependencies import SDK_PACKAGE, CondaDependencies
from runyard.sdk.environment.environment import Environment
from runyard.sdk.environment.requirement_lines import merge

SAME = {
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "tensorflow-cpu": "tensorflow",
    "tensorflow-gpu": "tensorflow",
}
"""Packages that are another one under a name of conda or of a build."""


@dataclass(frozen=True)
class Framework:
    """The packages of a framework: a Python (empty: any) and lines for pip. `environment` is the environment's name."""

    environment: str
    pip: tuple[str, ...]
    python: str = ""


def from_lists(
    conda_packages: Sequence[str], pip_packages: Sequence[str], framework: Framework | None
) -> tuple[CondaDependencies, list[str]]:
    """The specification, and remarks for the user.

    Explicit packages win over those of the framework.

    >>> from_lists([], ["numpy==1.0", "numpy<2"], None)[0].pip_packages
    ['azureml-defaults', 'numpy==1.0,<2']
    """
    made = CondaDependencies()
    if framework is not None and framework.python:
        made.set_python_version(framework.python)
    for package in conda_packages:
        made.add_conda_package(package)
    own = {_name(conda_name(each)): each for each in conda_packages}
    own.update({_name(pip_requirements.parse(line).key): line for line in pip_packages})
    brought = framework.pip if framework is not None else ()
    lines = [line for line in brought if _name(pip_requirements.parse(line).key) not in own]
    remarks = [
        f"{own[name]} is taken in the place of {line}, which the estimator would bring."
        for line in brought
        if (name := _name(pip_requirements.parse(line).key)) in own and own[name] != line
    ]
    made.set_pip_requirements(merge([SDK_PACKAGE, *lines, *pip_packages]))
    return made, remarks


def from_file(source_directory: str, path: str | os.PathLike[str]) -> CondaDependencies:
    """The specification in a conda file of the source folder."""
    return Environment.from_conda_specification("", _place(source_directory, path)).python.conda_dependencies


def requirements(source_directory: str, path: str | os.PathLike[str]) -> list[str]:
    """The lines of a requirements file of the source folder."""
    return requirements_files.read(_place(source_directory, path))


def _place(source_directory: str, path: str | os.PathLike[str]) -> str:
    """Paths of files are relative to the source folder; one that is only in the working folder is found too."""
    inside = os.path.join(source_directory, path)
    return os.fspath(path) if not os.path.isfile(inside) and os.path.isfile(path) else inside


def _name(key: str | None) -> str | None:
    return None if key is None else SAME.get(key, key)
