"""azureml.core.compute.remote, from `runyard.sdk`."""

from runyard.sdk.compute.remote import RemoteCompute, RemoteComputeAttachConfiguration

__all__ = ["RemoteCompute", "RemoteComputeAttachConfiguration"]
