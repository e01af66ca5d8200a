"""Calls of eager TensorFlow that return at once with a handle, for `poll` and `synchronize`.

In a graph there is nothing to return early from: its operations run beside each other, and the plain calls are made
there.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy
import tensorflow as tf

from ..core.basics import Average, op_of
from ..core.handles import handle_of, poll, synchronize
from ..core.requests import ALLGATHER, ALLREDUCE, ALLTOALL, BROADCAST, REDUCESCATTER
from .mpi_ops import _basics, _begin, _splits_of

__all__ = ["poll", "synchronize"]


def _handle(
    kind: str, call: str, name: str | None, tensors: Sequence[Any], process_set: Any, many: bool = False, **more: Any
) -> int:
    if not tf.executing_eagerly():
        raise RuntimeError(
            f"hvd.{call}_async returns a handle, which a graph cannot hold: its operations run beside each other as "
            f"they are, so use hvd.{call} there."
        )
    held = [tf.convert_to_tensor(tensor) for tensor in tensors]
    types = [tensor.dtype for tensor in held] + [tf.int32]

    def finish(arrays: Any) -> Any:
        found = [tf.convert_to_tensor(array, dtype) for array, dtype in zip(arrays, types)]
        return found if many else found[0]

    called = _basics.name(call, name, process_set)
    return handle_of(_begin(kind, called, [tensor.numpy() for tensor in held], process_set, **more), finish)


def _reduction(op: Any, average: bool | None, prescale: float, postscale: float) -> dict[str, Any]:
    return {"op": str(op_of(op, average)), "prescale": float(prescale), "postscale": float(postscale)}


def allreduce_async(
    tensor: Any,
    average: bool | None = None,
    name: str | None = None,
    op: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = None,
) -> int:
    more = _reduction(op, average, prescale_factor, postscale_factor)
    return _handle(ALLREDUCE, "allreduce", name, [tensor], process_set, **more)


def grouped_allreduce_async(
    tensors: Sequence[Any],
    average: bool | None = None,
    name: str | None = None,
    op: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = None,
) -> int:
    more = _reduction(op, average, prescale_factor, postscale_factor)
    return _handle(ALLREDUCE, "grouped_allreduce", name, tensors, process_set, True, **more)


def allgather_async(tensor: Any, name: str | None = None, process_set: Any = None) -> int:
    return _handle(ALLGATHER, "allgather", name, [tensor], process_set)


def grouped_allgather_async(tensors: Sequence[Any], name: str | None = None, process_set: Any = None) -> int:
    return _handle(ALLGATHER, "grouped_allgather", name, tensors, process_set, True)


def broadcast_async(tensor: Any, root_rank: int, name: str | None = None, process_set: Any = None) -> int:
    return _handle(BROADCAST, "broadcast", name, [tensor], process_set, root=int(root_rank))


def alltoall_async(tensor: Any, splits: Any = None, name: str | None = None, process_set: Any = None) -> int:
    """With `splits`, the result is the rows and how many came from each rank."""
    wanted = numpy.asarray(splits if splits is not None else [], numpy.int32)
    rows = _splits_of(numpy.asarray(tensor), wanted, process_set)
    return _handle(ALLTOALL, "alltoall", name, [tensor], process_set, splits is not None, splits=rows)


def reducescatter_async(
    tensor: Any,
    name: str | None = None,
    op: Any = Average,
    process_set: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> int:
    more = _reduction(op, None, prescale_factor, postscale_factor)
    return _handle(REDUCESCATTER, "reducescatter", name, [tensor], process_set, **more)


def grouped_reducescatter_async(
    tensors: Sequence[Any],
    name: str | None = None,
    op: Any = Average,
    process_set: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
) -> int:
    more = _reduction(op, None, prescale_factor, postscale_factor)
    return _handle(REDUCESCATTER, "grouped_reducescatter", name, tensors, process_set, True, **more)
