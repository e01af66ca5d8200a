"""What gradients of TensorFlow are made smaller by on their way."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ..core.compression import Compressor, HalfCompressor, NoneCompressor


class FP16Compressor(HalfCompressor, Compressor):  # type: ignore[misc]  # asked through the class, as the others are
    half = tf.float16

    @staticmethod
    def floating(dtype: Any) -> bool:
        return bool(dtype.is_floating)

    @staticmethod
    def cast(tensor: Any, dtype: Any) -> Any:
        return tf.cast(tensor, dtype)


class Compression:
    """The choices: `hvd.Compression.fp16`."""

    none = NoneCompressor
    fp16 = FP16Compressor
