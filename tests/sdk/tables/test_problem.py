"""Refusals say what to add to the environment, and are the exceptions of SDK v1."""

from __future__ import annotations

from azureml.data.dataset_error_handling import DatasetExecutionError, DatasetValidationError
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.tables.problem import TableProblem, needs


def test_what_is_missing_is_named_with_its_command() -> None:
    assert "`pip install pyarrow`" in str(needs("pyarrow", "Reading Parquet"))
    assert TableProblem("It is broken.", "Mend it.").message == "It is broken. Mend it."
    for kind in (TableProblem, DatasetValidationError, DatasetExecutionError):
        assert issubclass(kind, UserErrorException)
