"""Horovod's callbacks for `model.fit`."""

from __future__ import annotations

import keras

from ..tensorflow.keras_calls import Broadcast, LearningRateSchedule, LearningRateWarmup, MetricAverage


class BroadcastGlobalVariablesCallback(Broadcast, keras.callbacks.Callback):
    """All ranks begin with the weights of one."""


class MetricAverageCallback(MetricAverage, keras.callbacks.Callback):
    """Metrics at the end of an epoch are averages over all ranks. It belongs before callbacks that use them."""


class LearningRateScheduleCallback(LearningRateSchedule, keras.callbacks.Callback):
    """The learning rate by epoch, or by batch."""


class LearningRateWarmupCallback(LearningRateWarmup, keras.callbacks.Callback):
    """The learning rate grows over the first epochs."""
