"""azureml.core.compute.compute, from `runyard.sdk`."""

from runyard.sdk.compute.compute import (
    ComputeTarget,
    ComputeTargetAttachConfiguration,
    ComputeTargetProvisioningConfiguration,
    ComputeTargetUpdateConfiguration,
)

__all__ = [
    "ComputeTarget",
    "ComputeTargetAttachConfiguration",
    "ComputeTargetProvisioningConfiguration",
    "ComputeTargetUpdateConfiguration",
]
