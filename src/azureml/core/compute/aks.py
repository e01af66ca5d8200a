"""azureml.core.compute.aks, from `runyard.sdk`."""

from runyard.sdk.compute.aks import (
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
