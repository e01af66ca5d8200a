"""`import horovod.tensorflow.keras as hvd`: Horovod's interface for the Keras that TensorFlow brings."""

from __future__ import annotations

import tensorflow as tf

from ..keras_calls import loader
from ..keras_names import *  # noqa: F403 - it has __all__
from ..keras_names import __all__ as _names
from . import callbacks

__all__ = [*_names, "callbacks", "load_model"]

load_model = loader(tf.keras.models.load_model)
