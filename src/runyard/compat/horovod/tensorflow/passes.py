"""Gradients that add up on each rank over several passes before the ranks meet: `backward_passes_per_step`."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import tensorflow as tf


class Passes:
    """The sums of one optimizer, in variables, so that eager code and functions can keep them."""

    def __init__(self, passes: int, average: bool) -> None:
        self._passes, self._average = passes, average
        self._sums: list[Any] = []
        self._count: Any = None

    def add(self, gradients: Sequence[Any], apply: Callable[[list[Any]], Any]) -> Any:
        """Add the gradients of one pass; with the last of a step, `apply` gets the sums, or their average."""
        held = [None if each is None else tf.convert_to_tensor(each) for each in gradients]
        if self._count is None:
            self._make(held)
        for total, gradient in zip(self._sums, held):
            if gradient is not None:
                total.assign_add(gradient)
        count = self._count.assign_add(1)

        def due() -> Any:
            divisor = self._passes if self._average else 1
            apply([None if each is None else each.read_value() / tf.cast(divisor, each.dtype) for each in self._sums])
            for total in self._sums:
                if total is not None:
                    total.assign(tf.zeros_like(total))
            return self._count.assign(0)

        return tf.cond(tf.equal(count, self._passes), due, lambda: tf.identity(count))

    def _make(self, gradients: Sequence[Any]) -> None:
        with tf.init_scope():  # outside of the function that is being traced
            self._sums = [
                None if each is None else tf.Variable(tf.zeros(each.shape, each.dtype), trainable=False)
                for each in gradients
            ]
            self._count = tf.Variable(0, dtype=tf.int64, trainable=False)
