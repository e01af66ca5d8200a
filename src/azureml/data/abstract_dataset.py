"""azureml.data.abstract_dataset, from `runyard.sdk.data`."""

from runyard.sdk.data.abstract_dataset import AbstractDataset

__all__ = ["AbstractDataset"]
