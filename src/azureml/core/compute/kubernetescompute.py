"""azureml.core.compute.kubernetescompute, from `runyard.sdk`."""

from runyard.sdk.compute.kubernetes import (
    KubernetesCompute,
    KubernetesComputeAttachConfiguration,
    KubernetesComputeStatus,
)

__all__ = ["KubernetesCompute", "KubernetesComputeAttachConfiguration", "KubernetesComputeStatus"]
