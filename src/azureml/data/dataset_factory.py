"""azureml.data.dataset_factory, from `runyard.sdk.data` and `runyard.sdk.tables`."""

from runyard.sdk.data.dataset_factory import FileDatasetFactory
from runyard.sdk.tables.data_type import DataType
from runyard.sdk.tables.tabular_factory import TabularDatasetFactory

__all__ = ["DataType", "FileDatasetFactory", "TabularDatasetFactory"]
