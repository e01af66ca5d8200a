"""azureml.data.dataset_factory, from `runyard.sdk.data`."""

from runyard.sdk.data.dataset_factory import FileDatasetFactory, TabularDatasetFactory

__all__ = ["FileDatasetFactory", "TabularDatasetFactory"]
