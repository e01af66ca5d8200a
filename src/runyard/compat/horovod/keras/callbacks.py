"""Horovod's callbacks for `model.fit`."""

from __future__ import annotations

import keras

from ..tensorflow.keras_calls import callbacks_of

(
    BroadcastGlobalVariablesCallback,
    MetricAverageCallback,
    LearningRateScheduleCallback,
    LearningRateWarmupCallback,
) = callbacks_of(keras.callbacks.Callback, __name__)
