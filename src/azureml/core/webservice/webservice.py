"""azureml.core.webservice.webservice, from `runyard.sdk`."""

from runyard.sdk.webservice.deployment_configuration import WebserviceDeploymentConfiguration
from runyard.sdk.webservice.requirements import (
    AutoScaler,
    ContainerResourceRequirements,
    DataCollection,
    LivenessProbeRequirements,
)
from runyard.sdk.webservice.webservice import Webservice

__all__ = [
    "AutoScaler",
    "ContainerResourceRequirements",
    "DataCollection",
    "LivenessProbeRequirements",
    "Webservice",
    "WebserviceDeploymentConfiguration",
]
