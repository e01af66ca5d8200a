"""Horovod's collectives for TensorFlow: in eager code, inside `tf.function`, and in graphs of TensorFlow 1.

In a graph each is one operation that hands its arrays to this process when it runs. A group is one operation for all
its tensors: operations that wait would otherwise take up the threads by which others run.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy
import tensorflow as tf

from ..common.exceptions import HorovodInternalError  # noqa: F401 - scripts import it from here
from ..core import basics
from ..core.basics import Adasum, Average, Basics, Max, Min, Product, Sum, check_process_set, op_of
from ..core.requests import ALLGATHER, ALLREDUCE, ALLTOALL, BROADCAST, REDUCESCATTER, Request
from .transport import FRAMEWORK, ArrayTransport

__all__ = ["Adasum", "Average", "Max", "Min", "Product", "Sum"]

ProcessSet, global_process_set = basics.ProcessSet, basics.global_process_set

_basics = Basics(FRAMEWORK, ArrayTransport)

init, shutdown, is_initialized = _basics.init, _basics.shutdown, _basics.is_initialized
rank, size = _basics.rank, _basics.size
local_rank, local_size = _basics.local_rank, _basics.local_size
cross_rank, cross_size = _basics.cross_rank, _basics.cross_size
is_homogeneous, barrier = _basics.is_homogeneous, _basics.barrier
start_timeline, stop_timeline = _basics.start_timeline, _basics.stop_timeline
mpi_threads_supported = _basics.mpi_threads_supported
mpi_enabled = mpi_built = ddl_built = ccl_built = nccl_built = rocm_built = _basics.no
gloo_enabled = gloo_built = _basics.yes


def cuda_built(verbose: bool = False) -> bool:
    return bool(tf.test.is_built_with_cuda())


def join(device: int = -1) -> int:
    return _basics.join(device)


def rank_op(name: str | None = None) -> Any:
    return tf.identity(tf.constant(rank(), tf.int32), name=name)


def size_op(process_set_id: int = 0, name: str | None = None) -> Any:
    return tf.identity(tf.constant(size(), tf.int32), name=name)


def local_rank_op(name: str | None = None) -> Any:
    return tf.identity(tf.constant(local_rank(), tf.int32), name=name)


def local_size_op(name: str | None = None) -> Any:
    return tf.identity(tf.constant(local_size(), tf.int32), name=name)


# -- how an array gets to the other ranks -----------------------------------------------------------------------------


def _do(kind: str, name: str, arrays: Sequence[Any], **more: Any) -> list[Any]:
    """Hand arrays in under a name, and wait for what comes back."""
    held = [numpy.asarray(array) for array in arrays]
    members = tuple((f"{name}:{place}", str(array.dtype), array.shape) for place, array in enumerate(held))
    request = Request(name, kind, members, device=f"{FRAMEWORK}/cpu", **more)
    found: list[Any] = basics.session().wait(basics.session().submit([request], [held])[0])
    return found


def _op(
    tensors: Sequence[Any], types: Sequence[Any], shapes: Sequence[Any], work: Callable[[list[Any]], list[Any]]
) -> list[Any]:
    """The results of `work` on the tensors' arrays: now, or when the graph runs."""
    if tf.executing_eagerly():
        found = work([tensor.numpy() for tensor in tensors])
        return [tf.convert_to_tensor(array, dtype) for array, dtype in zip(found, types)]
    outputs = tf.numpy_function(lambda *arrays: work(list(arrays)), list(tensors), list(types))
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    for output, shape in zip(outputs, shapes):
        output.set_shape(shape)
    return outputs


def _tensors(values: Sequence[Any]) -> list[Any]:
    return [tf.convert_to_tensor(value) for value in values]


def _rows_unknown(tensor: Any) -> Any:
    shape = tensor.shape
    return shape if shape.rank is None else tf.TensorShape([None, *shape[1:]])


def reduce_all(tensors: Sequence[Any], name: str, op: Any, prescale: float = 1.0, postscale: float = 1.0) -> list[Any]:
    """Reduce some tensors in one operation; gradients are reduced in the same way on their way back."""
    more = {"op": str(op), "prescale": float(prescale), "postscale": float(postscale)}

    def reduce(given: Sequence[Any], called: str) -> list[Any]:
        return _op(
            given,
            [tensor.dtype for tensor in given],
            [tensor.shape for tensor in given],
            lambda arrays: _do(ALLREDUCE, called, arrays, **more),
        )

    @tf.custom_gradient
    def reduced(*given: Any) -> Any:
        def back(*gradients: Any) -> Any:
            return reduce(gradients, f"{name}.backward")

        return tuple(reduce(given, name)), back

    return list(reduced(*_tensors(tensors)))


# -- the calls --------------------------------------------------------------------------------------------------------


def grouped_gather(tensors: Sequence[Any], name: str) -> list[Any]:
    given = _tensors(tensors)

    @tf.custom_gradient
    def gathered(*held: Any) -> Any:
        outputs = _op(
            held,
            [tensor.dtype for tensor in held],
            [_rows_unknown(tensor) for tensor in held],
            lambda arrays: _do(ALLGATHER, name, arrays),
        )

        def back(*gradients: Any) -> Any:
            def mine(arrays: list[Any]) -> list[Any]:
                half = len(arrays) // 2
                summed = _do(ALLREDUCE, f"{name}.backward", arrays[:half], op="sum")
                rows = basics.session().share(f"{name}.rows", [int(array.shape[0]) for array in arrays[half:]])
                starts = [sum(each[place] for each in rows[: rank()]) for place in range(half)]
                own = rows[rank()]
                return [array[start : start + own[place]] for place, (array, start) in enumerate(zip(summed, starts))]

            return _op([*gradients, *held], [t.dtype for t in gradients], [t.shape for t in held], mine)

        return tuple(outputs), back

    return list(gathered(*given))


def allgather(tensor: Any, name: str | None = None, ignore_name_scope: bool = False, process_set: Any = None) -> Any:
    """The tensors of all ranks, one after another in the order of the ranks."""
    check_process_set(process_set)
    return grouped_gather([tensor], _basics.name("allgather", name))[0]


def grouped_allgather(tensors: Sequence[Any], name: str | None = None, process_set: Any = None) -> list[Any]:
    check_process_set(process_set)
    return grouped_gather(tensors, _basics.name("grouped_allgather", name))


def broadcast_all(tensors: Sequence[Any], root_rank: int, name: str) -> list[Any]:
    def sent(given: Sequence[Any]) -> list[Any]:
        return _op(
            given,
            [tensor.dtype for tensor in given],
            [tensor.shape for tensor in given],
            lambda arrays: _do(BROADCAST, name, arrays, root=int(root_rank)),
        )

    @tf.custom_gradient
    def broadcasted(*given: Any) -> Any:
        def back(*gradients: Any) -> Any:
            summed = reduce_all(gradients, f"{name}.backward", Sum)
            return summed if rank() == root_rank else [tf.zeros_like(each) for each in summed]

        return tuple(sent(given)), back

    return list(broadcasted(*_tensors(tensors)))


def broadcast(
    tensor: Any, root_rank: int, name: str | None = None, ignore_name_scope: bool = False, process_set: Any = None
) -> Any:
    check_process_set(process_set)
    return broadcast_all([tensor], root_rank, _basics.name("broadcast", name))[0]


def alltoall(
    tensor: Any,
    splits: Any = None,
    name: str | None = None,
    ignore_name_scope: bool = False,
    process_set: Any = None,
) -> Any:
    """Each rank sends some of its rows to every other; with `splits`, how many came from each is returned as well."""
    check_process_set(process_set)
    called = _basics.name("alltoall", name)
    given = tf.convert_to_tensor(tensor)
    rows = tf.convert_to_tensor(splits if splits is not None else [], tf.int32)

    def exchange(arrays: list[Any], name: str) -> list[Any]:
        array, wanted = arrays
        if not wanted.size:
            if array.shape[0] % size():
                raise ValueError(
                    f"The first dimension, {array.shape[0]}, cannot be split evenly among {size()} ranks: give splits."
                )
            wanted = numpy.full(size(), array.shape[0] // size())
        if len(wanted) != size() or int(wanted.sum()) != array.shape[0]:
            raise ValueError(f"splits must have a number of rows for each of {size()} ranks, not {wanted.tolist()}.")
        return _do(ALLTOALL, name, [array], splits=tuple(int(each) for each in wanted))

    @tf.custom_gradient
    def exchanged(held: Any, wanted: Any) -> Any:
        types, shapes = [held.dtype, tf.int32], [_rows_unknown(held), [None]]
        output, received = _op([held, wanted], types, shapes, lambda arrays: exchange(arrays, called))

        def back(gradient: Any, _: Any) -> Any:
            returned = _op([gradient, received], types, shapes, lambda arrays: exchange(arrays, f"{called}.backward"))
            return returned[0], None

        return (output, received), back

    output, received = exchanged(given, rows)
    return output if splits is None else (output, received)


def reducescatter_all(
    tensors: Sequence[Any], name: str, op: Any, prescale: float = 1.0, postscale: float = 1.0
) -> list[Any]:
    more = {"op": str(op), "prescale": float(prescale), "postscale": float(postscale)}

    @tf.custom_gradient
    def scattered(*given: Any) -> Any:
        outputs = _op(
            given,
            [tensor.dtype for tensor in given],
            [_rows_unknown(tensor) for tensor in given],
            lambda arrays: _do(REDUCESCATTER, name, arrays, **more),
        )

        def back(*gradients: Any) -> Any:
            factor = prescale * postscale / (size() if op == Average else 1)
            return [each * tf.cast(factor, each.dtype) for each in grouped_gather(gradients, f"{name}.backward")]

        return tuple(outputs), back

    return list(scattered(*_tensors(tensors)))


def reducescatter(
    tensor: Any,
    op: Any = Average,
    name: str | None = None,
    process_set: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    **ignored: Any,
) -> Any:
    """This rank's part of the reduced tensor, by rows; the first ranks have one more where there is a rest."""
    check_process_set(process_set)
    called = _basics.name("reducescatter", name)
    return reducescatter_all([tensor], called, op_of(op, None), prescale_factor, postscale_factor)[0]


def grouped_reducescatter(
    tensors: Sequence[Any],
    op: Any = Average,
    name: str | None = None,
    process_set: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    **ignored: Any,
) -> list[Any]:
    check_process_set(process_set)
    called = _basics.name("grouped_reducescatter", name)
    return reducescatter_all(tensors, called, op_of(op, None), prescale_factor, postscale_factor)
