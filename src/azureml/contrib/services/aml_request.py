"""azureml.contrib.services.aml_request, from `runyard.serving.rawhttp`."""

from runyard.serving.rawhttp import AMLRequest, rawhttp

__all__ = ["AMLRequest", "rawhttp"]
