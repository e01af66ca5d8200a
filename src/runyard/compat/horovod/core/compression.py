"""What gradients are made smaller by on their way: nothing, or half precision. A framework says how it casts."""

from __future__ import annotations

from typing import Any, Callable


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


def choices(
    module: str, half: Any, floating: Callable[[Any], bool], cast: Callable[[Any, Any], Any]
) -> tuple[type[Compressor], Any]:
    """FP16Compressor and Compression of a framework, for its module: its type of 16 bits, whether a type is one of
    floating point numbers, and how a tensor is cast."""

    class FP16Compressor(Compressor):
        """Floating point numbers travel with 16 bits, and come back with as many as they had."""

        @staticmethod
        def compress(tensor: Any) -> tuple[Any, Any]:
            dtype = tensor.dtype
            return (cast(tensor, half) if floating(dtype) else tensor), dtype

        @staticmethod
        def decompress(tensor: Any, ctx: Any) -> Any:
            return cast(tensor, ctx) if ctx is not None and floating(ctx) else tensor

    class Compression:
        """The choices: `hvd.Compression.fp16`."""

        none = NoneCompressor
        fp16 = FP16Compressor

    for made in (FP16Compressor, Compression):
        made.__module__, made.__qualname__ = module, made.__name__
    return FP16Compressor, Compression
