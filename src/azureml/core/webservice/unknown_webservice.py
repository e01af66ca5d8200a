"""azureml.core.webservice.unknown_webservice, from `runyard.sdk`."""

from runyard.sdk.webservice.unknown import UnknownWebservice

__all__ = ["UnknownWebservice"]
