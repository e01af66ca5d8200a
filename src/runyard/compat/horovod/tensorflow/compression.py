"""What gradients of TensorFlow are made smaller by on their way."""

from __future__ import annotations

import tensorflow as tf

from ..core.compression import Compressor, NoneCompressor, choices

__all__ = ["Compression", "Compressor", "FP16Compressor", "NoneCompressor"]

FP16Compressor, Compression = choices(__name__, tf.float16, lambda dtype: bool(dtype.is_floating), tf.cast)
