"""azureml.core.container_registry, from `runyard.sdk.environment.container_registry`."""

from runyard.sdk.environment.container_registry import ContainerRegistry, RegistryIdentity

__all__ = ["ContainerRegistry", "RegistryIdentity"]
