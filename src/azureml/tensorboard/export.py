"""azureml.tensorboard.export, from `runyard.sdk.tensorboard.export`."""

from runyard.sdk.tensorboard.export import export_to_tensorboard

__all__ = ["export_to_tensorboard"]
