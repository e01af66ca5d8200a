"""azureml.core.compute.aks, from `runyard.sdk`."""

from runyard.sdk.aks_compute import (
    AksAttachConfiguration,
    AksCompute,
    AksProvisioningConfiguration,
    AksUpdateConfiguration,
    SslConfiguration,
    SystemService,
)

__all__ = [
    "AksAttachConfiguration",
    "AksCompute",
    "AksProvisioningConfiguration",
    "AksUpdateConfiguration",
    "SslConfiguration",
    "SystemService",
]
