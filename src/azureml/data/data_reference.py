"""azureml.data.data_reference, from `runyard.sdk.data.data_reference`."""

from runyard.sdk.data.data_reference import DataReference

__all__ = ["DataReference"]
