"""The collectives after which every rank has another part: alltoall and reducescatter; and the barrier."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from ..core import basics
from ..core.basics import op_of
from ..core.process_sets import global_process_set, ranks_of
from ..core.requests import ALLTOALL, REDUCESCATTER
from ..core.splits import splits_of
from .compression import Compression
from .mpi_ops import _backward, _basics, _first, _submit, allgather_async, synchronize

barrier = _basics.barrier


def _splits_of(tensor: Any, splits: Any, process_set: Any) -> tuple[int, ...]:
    wanted = splits.tolist() if hasattr(splits, "tolist") else splits
    return splits_of(tensor.shape, wanted, len(ranks_of(process_set)))


def alltoall_async(
    tensor: Any, splits: Any = None, name: str | None = None, process_set: Any = global_process_set
) -> int:
    own, rows = tensor.detach(), _splits_of(tensor, splits, process_set)
    called = _basics.name("alltoall", name, process_set)

    def finish(found: Any) -> Any:
        output, received = found
        return output if splits is None else (output, received)

    return _submit(ALLTOALL, called, [own], [own], finish, process_set, splits=rows)


class _Alltoall(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, splits: Any, name: Any, process_set: Any) -> Any:
        rows = torch.tensor(_splits_of(tensor, splits, process_set), dtype=torch.int32)
        output, received = synchronize(alltoall_async(tensor, rows, name, process_set))
        ctx.received, ctx.name, ctx.process_set = received, name, process_set
        ctx.mark_non_differentiable(received)
        return output, received

    @staticmethod
    def backward(ctx: Any, gradient: Any, _: Any) -> Any:
        handle = alltoall_async(gradient.contiguous(), ctx.received, _backward(ctx.name), ctx.process_set)
        back, _received = synchronize(handle)
        return back, None, None, None


def alltoall(tensor: Any, splits: Any = None, name: str | None = None, process_set: Any = global_process_set) -> Any:
    """Each rank sends some of its rows to every other; with `splits`, how many came from each is returned as well."""
    output, received = _Alltoall.apply(tensor, splits, name, process_set)
    return output if splits is None else (output, received)


def _reducescatter(
    tensors: Sequence[Any], name: str, op: Any, pre: float, post: float, process_set: Any, finish: Any
) -> int:
    own = [tensor.detach() for tensor in tensors]
    names = [f"{name}_{place + 1}" for place in range(len(own))] if len(own) > 1 else []
    more = {"op": str(op_of(op, None)), "prescale": float(pre), "postscale": float(post)}
    return _submit(REDUCESCATTER, name, own, own, finish, process_set, names, **more)


def reducescatter_async(
    tensor: Any,
    name: str | None = None,
    op: Any = basics.Average,
    process_set: Any = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> int:
    called = _basics.name("reducescatter", name, process_set)
    return _reducescatter([tensor], called, op, prescale_factor, postscale_factor, process_set, _first)


def grouped_reducescatter_async(
    tensors: Sequence[Any],
    name: str | None = None,
    op: Any = basics.Average,
    process_set: Any = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> int:
    called = _basics.name("grouped_reducescatter", name, process_set)
    return _reducescatter(tensors, called, op, prescale_factor, postscale_factor, process_set, list)


class _Reducescatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, op: Any, name: Any, process_set: Any, pre: float, post: float) -> Any:
        ctx.op, ctx.name, ctx.scale, ctx.process_set = op, name, pre * post, process_set
        return synchronize(reducescatter_async(tensor, name, op, process_set, pre, post))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        handle = allgather_async(gradient.contiguous(), _backward(ctx.name), ctx.process_set)
        whole = synchronize(handle) * ctx.scale
        size = len(ranks_of(ctx.process_set))
        return (whole / size if ctx.op == basics.Average else whole), None, None, None, None, None


def reducescatter(
    tensor: Any,
    name: str | None = None,
    compression: Any = Compression.none,
    op: Any = basics.Average,
    process_set: Any = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> Any:
    """This rank's part of the reduced tensor, by rows; the first ranks have one more where there is a rest."""
    small, context = compression.compress(tensor)
    found = _Reducescatter.apply(small, op, name, process_set, prescale_factor, postscale_factor)
    return compression.decompress(found, context)


def grouped_reducescatter(
    tensors: Sequence[Any],
    name: str | None = None,
    compression: Any = Compression.none,
    op: Any = basics.Average,
    process_set: Any = global_process_set,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> list[Any]:
    names = [None if name is None else f"{name}_{place + 1}" for place in range(len(tensors))]
    return [
        reducescatter(tensor, each, compression, op, process_set, prescale_factor, postscale_factor)
        for tensor, each in zip(tensors, names)
    ]
