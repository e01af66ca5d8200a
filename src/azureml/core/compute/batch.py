"""azureml.core.compute.batch, from `runyard.sdk`."""

from runyard.sdk.compute.remote import BatchCompute

__all__ = ["BatchCompute"]
