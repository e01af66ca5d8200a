"""Horovod's callbacks for `model.fit`."""

from __future__ import annotations

import tensorflow as tf

from ..keras_calls import callbacks_of

(
    BroadcastGlobalVariablesCallback,
    MetricAverageCallback,
    LearningRateScheduleCallback,
    LearningRateWarmupCallback,
) = callbacks_of(tf.keras.callbacks.Callback, __name__)
