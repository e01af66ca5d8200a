"""Horovod's callbacks for `model.fit`."""

from __future__ import annotations

import keras

from ..tensorflow.keras_calls import (
    BroadcastGlobalVariables,
    LearningRateSchedule,
    LearningRateWarmup,
    MetricAverage,
    callback,
)

BroadcastGlobalVariablesCallback = callback(BroadcastGlobalVariables, keras.callbacks.Callback, __name__)
MetricAverageCallback = callback(MetricAverage, keras.callbacks.Callback, __name__)
LearningRateScheduleCallback = callback(LearningRateSchedule, keras.callbacks.Callback, __name__)
LearningRateWarmupCallback = callback(LearningRateWarmup, keras.callbacks.Callback, __name__)
