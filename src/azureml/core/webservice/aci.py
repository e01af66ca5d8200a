"""azureml.core.webservice.aci, from `runyard.sdk`."""

from runyard.sdk.webservice.aci import AciServiceDeploymentConfiguration, AciWebservice
from runyard.sdk.webservice.requirements import ContainerResourceRequirements

__all__ = ["AciServiceDeploymentConfiguration", "AciWebservice", "ContainerResourceRequirements"]
