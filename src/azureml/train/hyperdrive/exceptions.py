"""azureml.train.hyperdrive.exceptions, from `runyard.sdk.exceptions`."""

from runyard.sdk.exceptions import (
    HyperDriveConfigException,
    HyperDriveException,
    HyperDriveNotImplementedException,
    HyperDriveRehydrateException,
    HyperDriveScenarioNotSupportedException,
    HyperDriveServiceException,
)

__all__ = [
    "HyperDriveConfigException",
    "HyperDriveException",
    "HyperDriveNotImplementedException",
    "HyperDriveRehydrateException",
    "HyperDriveScenarioNotSupportedException",
    "HyperDriveServiceException",
]
