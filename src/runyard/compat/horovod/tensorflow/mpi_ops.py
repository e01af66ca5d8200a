"""Horovod's collectives for TensorFlow: in eager code, inside `tf.function`, and in graphs of TensorFlow 1.

In a graph each is one operation that hands its arrays to this process when it runs. A group is one operation for all
its tensors: operations that wait would otherwise take up the threads by which others run.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy
import tensorflow as tf

from ..common.exceptions import HorovodInternalError  # noqa: F401 - scripts import it from here
from ..core import sessions
from ..core.basics import Adasum, Average, Basics, Max, Min, Product, Sum, op_of
from ..core.negotiator import Ticket
from ..core.process_sets import (
    ProcessSet,
    add_process_set,
    chosen_ranks,
    get_process_set_ids_and_ranks,
    global_process_set,
    ranks_of,
    remove_process_set,
)
from ..core.requests import ALLGATHER, ALLREDUCE, ALLTOALL, BROADCAST, REDUCESCATTER, Request
from ..core.splits import splits_of
from .transport import FRAMEWORK, ArrayTransport

__all__ = [
    "Adasum",
    "Average",
    "Max",
    "Min",
    "ProcessSet",
    "Product",
    "Sum",
    "add_process_set",
    "get_process_set_ids_and_ranks",
    "global_process_set",
    "remove_process_set",
]

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
    return tf.identity(tf.constant(len(ranks_of(process_set_id)), tf.int32), name=name)


def process_set_included_op(process_set_id: int = 0, name: str | None = None) -> Any:
    return tf.identity(tf.constant(int(rank() in ranks_of(process_set_id)), tf.int32), name=name)


def local_rank_op(name: str | None = None) -> Any:
    return tf.identity(tf.constant(local_rank(), tf.int32), name=name)


def local_size_op(name: str | None = None) -> Any:
    return tf.identity(tf.constant(local_size(), tf.int32), name=name)


# -- how an array gets to the other ranks -----------------------------------------------------------------------------


def _begin(kind: str, name: str, arrays: Sequence[Any], process_set: Any = None, **more: Any) -> Ticket:
    """Hand arrays in under a name."""
    held = [numpy.asarray(array) for array in arrays]
    members = tuple((f"{name}:{place}", str(array.dtype), array.shape) for place, array in enumerate(held))
    request = Request(name, kind, members, device=f"{FRAMEWORK}/cpu", ranks=chosen_ranks(process_set), **more)
    return sessions.current().submit([request], [held])[0]


def _do(kind: str, name: str, arrays: Sequence[Any], process_set: Any = None, **more: Any) -> list[Any]:
    """Hand arrays in, and wait for what comes back."""
    found: list[Any] = sessions.current().wait(_begin(kind, name, arrays, process_set, **more))
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


def reduce_all(
    tensors: Sequence[Any],
    name: str,
    op: Any,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: Any = None,
) -> list[Any]:
    """Reduce some tensors in one operation; gradients are reduced in the same way on their way back."""
    more = {"op": str(op), "prescale": float(prescale), "postscale": float(postscale)}

    def reduce(given: Sequence[Any], called: str) -> list[Any]:
        return _op(
            given,
            [tensor.dtype for tensor in given],
            [tensor.shape for tensor in given],
            lambda arrays: _do(ALLREDUCE, called, arrays, process_set, **more),
        )

    @tf.custom_gradient
    def reduced(*given: Any) -> Any:
        def back(*gradients: Any) -> Any:
            return reduce(gradients, f"{name}.backward")

        return tuple(reduce(given, name)), back

    return list(reduced(*_tensors(tensors)))


# -- the calls --------------------------------------------------------------------------------------------------------


def grouped_gather(tensors: Sequence[Any], name: str, process_set: Any = None) -> list[Any]:
    given = _tensors(tensors)

    @tf.custom_gradient
    def gathered(*held: Any) -> Any:
        outputs = _op(
            held,
            [tensor.dtype for tensor in held],
            [_rows_unknown(tensor) for tensor in held],
            lambda arrays: _do(ALLGATHER, name, arrays, process_set),
        )

        def back(*gradients: Any) -> Any:
            def mine(arrays: list[Any]) -> list[Any]:
                half = len(arrays) // 2
                summed = _do(ALLREDUCE, f"{name}.backward", arrays[:half], process_set, op="sum")
                counts = [int(array.shape[0]) for array in arrays[half:]]
                rows = sessions.current().share(f"{name}.rows", counts, chosen_ranks(process_set))
                me = ranks_of(process_set).index(rank())
                starts, own = [sum(each[place] for each in rows[:me]) for place in range(half)], rows[me]
                return [array[start : start + own[place]] for place, (array, start) in enumerate(zip(summed, starts))]

            return _op([*gradients, *held], [t.dtype for t in gradients], [t.shape for t in held], mine)

        return tuple(outputs), back

    return list(gathered(*given))


def allgather(tensor: Any, name: str | None = None, ignore_name_scope: bool = False, process_set: Any = None) -> Any:
    """The tensors of all ranks, one after another in the order of the ranks."""
    return grouped_gather([tensor], _basics.name("allgather", name, process_set), process_set)[0]


def grouped_allgather(tensors: Sequence[Any], name: str | None = None, process_set: Any = None) -> list[Any]:
    return grouped_gather(tensors, _basics.name("grouped_allgather", name, process_set), process_set)


def broadcast_all(tensors: Sequence[Any], root_rank: int, name: str, process_set: Any = None) -> list[Any]:
    def sent(given: Sequence[Any]) -> list[Any]:
        return _op(
            given,
            [tensor.dtype for tensor in given],
            [tensor.shape for tensor in given],
            lambda arrays: _do(BROADCAST, name, arrays, process_set, root=int(root_rank)),
        )

    @tf.custom_gradient
    def broadcasted(*given: Any) -> Any:
        def back(*gradients: Any) -> Any:
            summed = reduce_all(gradients, f"{name}.backward", Sum, process_set=process_set)
            return summed if rank() == root_rank else [tf.zeros_like(each) for each in summed]

        return tuple(sent(given)), back

    return list(broadcasted(*_tensors(tensors)))


def broadcast(
    tensor: Any, root_rank: int, name: str | None = None, ignore_name_scope: bool = False, process_set: Any = None
) -> Any:
    return broadcast_all([tensor], root_rank, _basics.name("broadcast", name, process_set), process_set)[0]


def alltoall(
    tensor: Any,
    splits: Any = None,
    name: str | None = None,
    ignore_name_scope: bool = False,
    process_set: Any = None,
) -> Any:
    """Each rank sends some of its rows to every other; with `splits`, how many came from each is returned as well."""
    called = _basics.name("alltoall", name, process_set)
    given = tf.convert_to_tensor(tensor)
    rows = tf.convert_to_tensor(splits if splits is not None else [], tf.int32)

    def exchange(arrays: list[Any], name: str) -> list[Any]:
        array, wanted = arrays
        return _do(ALLTOALL, name, [array], process_set, splits=_splits_of(array, wanted, process_set))

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


def _splits_of(array: Any, wanted: Any, process_set: Any) -> tuple[int, ...]:
    return splits_of(array.shape, wanted.tolist() if wanted.size else None, len(ranks_of(process_set)))


def reducescatter_all(
    tensors: Sequence[Any],
    name: str,
    op: Any,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: Any = None,
) -> list[Any]:
    more = {"op": str(op), "prescale": float(prescale), "postscale": float(postscale)}

    @tf.custom_gradient
    def scattered(*given: Any) -> Any:
        outputs = _op(
            given,
            [tensor.dtype for tensor in given],
            [_rows_unknown(tensor) for tensor in given],
            lambda arrays: _do(REDUCESCATTER, name, arrays, process_set, **more),
        )

        def back(*gradients: Any) -> Any:
            factor = prescale * postscale / (len(ranks_of(process_set)) if op == Average else 1)
            whole = grouped_gather(gradients, f"{name}.backward", process_set)
            return [each * tf.cast(factor, each.dtype) for each in whole]

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
    called, chosen = _basics.name("reducescatter", name, process_set), op_of(op, None)
    return reducescatter_all([tensor], called, chosen, prescale_factor, postscale_factor, process_set)[0]


def grouped_reducescatter(
    tensors: Sequence[Any],
    op: Any = Average,
    name: str | None = None,
    process_set: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    **ignored: Any,
) -> list[Any]:
    called, chosen = _basics.name("grouped_reducescatter", name, process_set), op_of(op, None)
    return reducescatter_all(tensors, called, chosen, prescale_factor, postscale_factor, process_set)
