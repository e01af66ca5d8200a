"""azureml.core.keyvault, from `runyard.sdk.workspace.keyvault`."""

from runyard.sdk.workspace.keyvault import Keyvault, KeyVaultContentType

__all__ = ["KeyVaultContentType", "Keyvault"]
