"""azureml.train.hyperdrive.run, from `runyard.sdk.hyperdrive.run`."""

from runyard.sdk.hyperdrive.run import HyperDriveRun

__all__ = ["HyperDriveRun"]
