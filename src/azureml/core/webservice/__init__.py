"""azureml.core.webservice, from `runyard.sdk`."""

from runyard.sdk.webservice.aci import AciWebservice
from runyard.sdk.webservice.aks import AksWebservice
from runyard.sdk.webservice.aks_endpoint import AksEndpoint
from runyard.sdk.webservice.local import LocalWebservice
from runyard.sdk.webservice.unknown import UnknownWebservice
from runyard.sdk.webservice.webservice import Webservice

__all__ = [
    "AciWebservice",
    "AksEndpoint",
    "AksWebservice",
    "LocalWebservice",
    "UnknownWebservice",
    "Webservice",
]
