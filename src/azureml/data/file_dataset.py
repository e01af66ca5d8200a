"""azureml.data.file_dataset, from `runyard.sdk.data`."""

from runyard.sdk.data.file_dataset import FileDataset

__all__ = ["FileDataset"]
