"""Horovod's callbacks for `model.fit`."""

from __future__ import annotations

import tensorflow as tf

from ..keras_calls import BroadcastGlobalVariables, LearningRateSchedule, LearningRateWarmup, MetricAverage, callback

BroadcastGlobalVariablesCallback = callback(BroadcastGlobalVariables, tf.keras.callbacks.Callback, __name__)
MetricAverageCallback = callback(MetricAverage, tf.keras.callbacks.Callback, __name__)
LearningRateScheduleCallback = callback(LearningRateSchedule, tf.keras.callbacks.Callback, __name__)
LearningRateWarmupCallback = callback(LearningRateWarmup, tf.keras.callbacks.Callback, __name__)
