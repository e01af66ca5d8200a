"""azureml.data.tabular_dataset, from `runyard.sdk.tables`."""

from runyard.sdk.tables.tabular_dataset import TabularDataset

__all__ = ["TabularDataset"]
