"""azureml.core.compute.amlcompute, from `runyard.sdk`."""

from runyard.sdk.compute.aml import AmlCompute, AmlComputeProvisioningConfiguration
from runyard.sdk.compute.aml_status import AmlComputeNodeStateCounts, AmlComputeStatus, ScaleSettings

__all__ = [
    "AmlCompute",
    "AmlComputeNodeStateCounts",
    "AmlComputeProvisioningConfiguration",
    "AmlComputeStatus",
    "ScaleSettings",
]
