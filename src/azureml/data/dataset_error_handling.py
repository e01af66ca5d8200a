"""azureml.data.dataset_error_handling, from `runyard.sdk.tables`."""

from runyard.sdk.tables.problem import DatasetExecutionError, DatasetValidationError

__all__ = ["DatasetExecutionError", "DatasetValidationError"]
