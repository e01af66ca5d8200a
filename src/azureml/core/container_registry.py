"""azureml.core.container_registry, from `runyard.sdk.container_registry`."""

from runyard.sdk.container_registry import ContainerRegistry, RegistryIdentity

__all__ = ["ContainerRegistry", "RegistryIdentity"]
