"""azureml.core.webservice.local, from `runyard.sdk`."""

from runyard.sdk.webservice.local import LocalWebservice, LocalWebserviceDeploymentConfiguration

__all__ = ["LocalWebservice", "LocalWebserviceDeploymentConfiguration"]
