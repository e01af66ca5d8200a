"""azureml.core.webservice.aks, from `runyard.sdk`."""

from runyard.sdk.webservice.aks import AksServiceAccessToken, AksWebservice
from runyard.sdk.webservice.aks_configuration import (
    AksEndpointDeploymentConfiguration,
    AksServiceDeploymentConfiguration,
)
from runyard.sdk.webservice.aks_endpoint import AksEndpoint
from runyard.sdk.webservice.requirements import (
    AutoScaler,
    ContainerResourceRequirements,
    DataCollection,
    LivenessProbeRequirements,
)

__all__ = [
    "AksEndpoint",
    "AksEndpointDeploymentConfiguration",
    "AksServiceAccessToken",
    "AksServiceDeploymentConfiguration",
    "AksWebservice",
    "AutoScaler",
    "ContainerResourceRequirements",
    "DataCollection",
    "LivenessProbeRequirements",
]
