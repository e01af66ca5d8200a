"""azureml.core.compute_target, from `runyard.sdk`."""

from runyard.sdk.compute.legacy import (
    AbstractComputeTarget,
    LocalTarget,
    attach_legacy_compute_target,
    is_compute_target_prepared,
    prepare_compute_target,
    remove_legacy_compute_target,
)
from runyard.sdk.exceptions import ComputeTargetException

__all__ = [
    "AbstractComputeTarget",
    "ComputeTargetException",
    "LocalTarget",
    "attach_legacy_compute_target",
    "is_compute_target_prepared",
    "prepare_compute_target",
    "remove_legacy_compute_target",
]
