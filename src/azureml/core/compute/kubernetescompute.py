"""azureml.core.compute.kubernetescompute, from `runyard.sdk`."""

from runyard.sdk.kubernetes_compute import (
    KubernetesCompute,
    KubernetesComputeAttachConfiguration,
    KubernetesComputeStatus,
)

__all__ = ["KubernetesCompute", "KubernetesComputeAttachConfiguration", "KubernetesComputeStatus"]
