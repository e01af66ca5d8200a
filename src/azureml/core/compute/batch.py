"""azureml.core.compute.batch, from `runyard.sdk`."""

from runyard.sdk.remote_compute import BatchCompute

__all__ = ["BatchCompute"]
