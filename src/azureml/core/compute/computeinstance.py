"""azureml.core.compute.computeinstance, from `runyard.sdk`."""

from runyard.sdk.compute.instance import (
    ComputeInstance,
    ComputeInstanceProvisioningConfiguration,
    ComputeInstanceStatus,
)

__all__ = ["ComputeInstance", "ComputeInstanceProvisioningConfiguration", "ComputeInstanceStatus"]
