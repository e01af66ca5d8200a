"""azureml.core.resource_configuration, from `runyard.sdk.submit.resource_configuration`."""

from runyard.sdk.submit.resource_configuration import ResourceConfiguration

__all__ = ["ResourceConfiguration"]
