"""Horovod's callbacks for `model.fit`."""

from __future__ import annotations

import tensorflow as tf

from ..keras_calls import Broadcast, LearningRateSchedule, LearningRateWarmup, MetricAverage


class BroadcastGlobalVariablesCallback(Broadcast, tf.keras.callbacks.Callback):
    """All ranks begin with the weights of one."""


class MetricAverageCallback(MetricAverage, tf.keras.callbacks.Callback):
    """Metrics at the end of an epoch are averages over all ranks. It belongs before callbacks that use them."""


class LearningRateScheduleCallback(LearningRateSchedule, tf.keras.callbacks.Callback):
    """The learning rate by epoch, or by batch."""


class LearningRateWarmupCallback(LearningRateWarmup, tf.keras.callbacks.Callback):
    """The learning rate grows over the first epochs."""
