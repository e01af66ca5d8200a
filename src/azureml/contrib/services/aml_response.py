"""azureml.contrib.services.aml_response, from `runyard.serving.rawhttp`."""

from runyard.serving.rawhttp import AMLResponse

__all__ = ["AMLResponse"]
