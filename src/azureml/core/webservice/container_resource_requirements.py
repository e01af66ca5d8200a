"""azureml.core.webservice.container_resource_requirements, from `runyard.sdk`."""

from runyard.sdk.webservice.requirements import ContainerResourceRequirements

__all__ = ["ContainerResourceRequirements"]
