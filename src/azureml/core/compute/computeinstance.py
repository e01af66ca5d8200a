"""azureml.core.compute.computeinstance, from `runyard.sdk`."""

from runyard.sdk.compute_instance import (
    ComputeInstance,
    ComputeInstanceProvisioningConfiguration,
    ComputeInstanceStatus,
)

__all__ = ["ComputeInstance", "ComputeInstanceProvisioningConfiguration", "ComputeInstanceStatus"]
