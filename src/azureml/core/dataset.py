"""azureml.core.dataset, from `runyard.sdk.data`."""

from runyard.sdk.data.dataset import Dataset

__all__ = ["Dataset"]
