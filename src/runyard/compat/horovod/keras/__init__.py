"""`import horovod.keras as hvd`: Horovod's interface for Keras as a package of its own (Keras 3 on TensorFlow)."""

from __future__ import annotations

import keras

from ..tensorflow.keras_calls import loader
from ..tensorflow.keras_names import *  # noqa: F403 - it has __all__
from ..tensorflow.keras_names import __all__ as _names
from . import callbacks

__all__ = [*_names, "callbacks", "load_model"]

load_model = loader(keras.models.load_model)
