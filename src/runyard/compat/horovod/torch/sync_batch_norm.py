"""Batch normalization over the batches of all ranks together."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from ..core.basics import Sum
from ..core.process_sets import global_process_set, ranks_of
from .mpi_ops import allreduce

_numbers = itertools.count(1)


class SyncBatchNorm(_BatchNorm):
    """In training, mean and variance are those of all ranks' inputs; they may have different numbers of samples."""

    def __init__(self, *args: Any, process_set: Any = global_process_set, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._process_set = process_set
        self._name = f"sync_batch_norm.{next(_numbers)}"  # the same on every rank: they build the same model

    def _check_input_dim(self, given: Any) -> None:
        if given.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {given.dim()}D input)")

    def forward(self, given: Any) -> Any:
        self._check_input_dim(given)
        if not (self.training and len(ranks_of(self._process_set)) > 1):
            return super().forward(given)
        kept = [place for place in range(given.dim()) if place != 1]
        wide = given if given.dtype not in (torch.float16, torch.bfloat16) else given.float()
        count = wide.numel() // max(wide.shape[1], 1)
        sums, squares = wide.sum(kept), (wide * wide).sum(kept)
        own = torch.cat([sums, squares, sums.new_tensor([count])])
        whole = allreduce(own, name=self._name, op=Sum, process_set=self._process_set)
        channels = wide.shape[1]
        total = whole[-1].detach()
        mean = whole[:channels] / total
        variance = (whole[channels:-1] / total - mean * mean).clamp_min(0)
        self._remember(mean.detach(), variance.detach(), total)
        shape = [1, channels] + [1] * (given.dim() - 2)
        scaled = (wide - mean.view(shape)) * torch.rsqrt(variance + self.eps).view(shape)
        if self.affine:
            scaled = scaled * self.weight.view(shape) + self.bias.view(shape)
        return scaled.to(given.dtype)

    def _remember(self, mean: Any, variance: Any, total: Any) -> None:
        if not self.track_running_stats or self.running_mean is None:
            return
        self.num_batches_tracked.add_(1)
        part = self.momentum if self.momentum is not None else 1.0 / float(self.num_batches_tracked)
        unbiased = variance * total / (total - 1).clamp_min(1)
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), part)
        self.running_var.lerp_(unbiased.to(self.running_var.dtype), part)
