"""What gradients are made smaller by on their way: nothing, or half precision. A framework says how it casts."""

from __future__ import annotations

from typing import Any


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


class HalfCompressor:
    """Floating point numbers travel with 16 bits, and come back with as many as they had."""

    half: Any

    @staticmethod
    def floating(dtype: Any) -> bool:
        raise NotImplementedError

    @staticmethod
    def cast(tensor: Any, dtype: Any) -> Any:
        raise NotImplementedError

    @classmethod
    def compress(cls, tensor: Any) -> tuple[Any, Any]:
        dtype = tensor.dtype
        return (cls.cast(tensor, cls.half) if cls.floating(dtype) else tensor), dtype

    @classmethod
    def decompress(cls, tensor: Any, ctx: Any) -> Any:
        return cls.cast(tensor, ctx) if ctx is not None and cls.floating(ctx) else tensor
