"""azureml.core.profile, from `runyard.sdk.model.profile`."""

from runyard.sdk.model.profile import ModelProfile

__all__ = ["ModelProfile"]
