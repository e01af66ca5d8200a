"""azureml.core.compute_target, from `runyard.sdk`."""

from runyard.sdk.compute_target import AbstractComputeTarget, LocalTarget
from runyard.sdk.exceptions import ComputeTargetException

__all__ = ["AbstractComputeTarget", "ComputeTargetException", "LocalTarget"]
