"""azureml.core.experiment, from `runyard.sdk.experiment`."""

from runyard.sdk.experiment import Experiment, ViewType

__all__ = ["Experiment", "ViewType"]
