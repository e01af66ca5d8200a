"""azureml.core.model, from `runyard.sdk.model`."""

from runyard.sdk.model.model import Model

__all__ = ["Model"]
