"""azureml.tensorboard.tensorboard, from `runyard.sdk.tensorboard.tensorboard`."""

from runyard.sdk.tensorboard.tensorboard import Tensorboard

__all__ = ["Tensorboard"]
