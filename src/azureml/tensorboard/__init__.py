"""azureml.tensorboard, from `runyard.sdk.tensorboard`."""

from runyard.sdk.tensorboard.tensorboard import Tensorboard

__all__ = ["Tensorboard"]
