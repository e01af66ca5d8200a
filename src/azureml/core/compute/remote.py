"""azureml.core.compute.remote, from `runyard.sdk`."""

from runyard.sdk.remote_compute import RemoteCompute, RemoteComputeAttachConfiguration

__all__ = ["RemoteCompute", "RemoteComputeAttachConfiguration"]
