"""azureml.data.dataset_type_definitions, from `runyard.sdk.tables`."""

from runyard.sdk.tables.data_type import PromoteHeadersBehavior

__all__ = ["PromoteHeadersBehavior"]
