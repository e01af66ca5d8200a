"""What gradients are made smaller by on their way: nothing, or half precision."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class Compressor:
    """The interface; scripts bring their own by deriving from it."""

    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        raise NotImplementedError


class NoneCompressor(Compressor):
    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        return tensor, None

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        return tensor


class FP16Compressor(Compressor):
    """Floating point numbers travel with 16 bits, and come back with as many as they had."""

    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        dtype = tensor.dtype
        return (tf.cast(tensor, tf.float16) if dtype.is_floating else tensor), dtype

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        return tf.cast(tensor, ctx) if ctx is not None and ctx.is_floating else tensor


class Compression:
    """The choices: `hvd.Compression.fp16`."""

    none = NoneCompressor
    fp16 = FP16Compressor
