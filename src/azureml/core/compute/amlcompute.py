"""azureml.core.compute.amlcompute, from `runyard.sdk`."""

from runyard.sdk.aml_compute import AmlCompute, AmlComputeProvisioningConfiguration
from runyard.sdk.aml_compute_status import AmlComputeNodeStateCounts, AmlComputeStatus, ScaleSettings

__all__ = [
    "AmlCompute",
    "AmlComputeNodeStateCounts",
    "AmlComputeProvisioningConfiguration",
    "AmlComputeStatus",
    "ScaleSettings",
]
