"""What gradients of torch are made smaller by on their way."""

from __future__ import annotations

import torch

from ..core.compression import Compressor, NoneCompressor, choices

__all__ = ["Compression", "Compressor", "FP16Compressor", "NoneCompressor"]

FP16Compressor, Compression = choices(
    __name__,
    torch.float16,
    lambda dtype: bool(dtype.is_floating_point),
    lambda tensor, dtype: tensor.type(dtype),
)
