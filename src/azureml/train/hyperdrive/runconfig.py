"""azureml.train.hyperdrive.runconfig, from `runyard.sdk.hyperdrive.config`."""

from runyard.sdk.hyperdrive.config import HyperDriveConfig, HyperDriveRunConfig, PrimaryMetricGoal

__all__ = ["HyperDriveConfig", "HyperDriveRunConfig", "PrimaryMetricGoal"]
