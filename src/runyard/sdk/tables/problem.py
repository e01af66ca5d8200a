"""What stops a table from being read, as a UserErrorException of SDK v1: which file and line, and what to do."""

from __future__ import annotations

from runyard.sdk.exceptions import UserErrorException


class TableProblem(UserErrorException):
    """A table cannot be read, or written."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(f"{message} {help}".strip())


class DatasetValidationError(UserErrorException):
    """A dataset that was made is not one that can be read."""


class DatasetExecutionError(UserErrorException):
    """A dataset could not be read to its end."""


def needs(package: str, what: str) -> TableProblem:
    """The refusal of what needs a package that this environment lacks."""
    return TableProblem(
        f"{what} needs {package}, which this environment does not have.",
        f"Add it: `pip install {package}`, or `environment.python.conda_dependencies.add_pip_package('{package}')` for "
        "a run.",
    )
