"""Giving all ranks the same start: variables, also those of a graph of TensorFlow 1, and any object."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy
import tensorflow as tf

from ..core import objects
from ..core.basics import check_process_set
from ..core.requests import ALLGATHER, BROADCAST
from .mpi_ops import _basics, _do, broadcast_all, rank


def broadcast_variables(
    variables: Sequence[Any], root_rank: int, process_set: Any = None, inplace: bool = False
) -> Any:
    """Overwrite variables with those of one rank; in a graph, the operation that does it."""
    check_process_set(process_set)
    held = list(variables)
    if not held:
        return tf.group()
    name = _basics.name("broadcast_variables", f"{len(held)}")
    values = broadcast_all([_value(each) for each in held], root_rank, name)
    done = [variable.assign(value) for variable, value in zip(held, values)]
    return None if tf.executing_eagerly() else tf.group(*done)


def broadcast_(variables: Sequence[Any], root_rank: int, name: str | None = None, process_set: Any = None) -> Any:
    broadcast_variables(variables, root_rank, process_set)
    return variables


def broadcast_global_variables(root_rank: int) -> Any:
    """Overwrite all variables of the graph of TensorFlow 1 with those of one rank."""
    if tf.executing_eagerly():
        raise RuntimeError(
            "hvd.broadcast_global_variables() does not support eager execution. Please use "
            "`hvd.broadcast_variables(<model/optimizer variables>)` instead."
        )
    return broadcast_variables(tf.compat.v1.global_variables(), root_rank)


class BroadcastGlobalVariablesHook(tf.compat.v1.train.SessionRunHook):
    """For `MonitoredTrainingSession`: all ranks begin with the variables of one."""

    def __init__(self, root_rank: int, device: str = "") -> None:
        super().__init__()
        self.root_rank, self.device, self.bcast_op = root_rank, device, None

    def begin(self) -> None:
        if self.bcast_op is None or self.bcast_op.graph != tf.compat.v1.get_default_graph():
            self.bcast_op = broadcast_global_variables(self.root_rank)

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self.bcast_op)


def broadcast_object(
    obj: Any = None, root_rank: int = 0, session: Any = None, name: str | None = None, process_set: Any = None
) -> Any:
    """What one rank has, on all of them: anything that can be pickled. It needs no session."""
    check_process_set(process_set)
    called = _basics.name("broadcast_object", name)
    content = numpy.frombuffer(objects.dump(obj), numpy.uint8) if rank() == root_rank else numpy.empty(0, numpy.uint8)
    (length,) = _do(BROADCAST, f"{called}.length", [numpy.array([content.size], numpy.int64)], root=root_rank)
    held = content if rank() == root_rank else numpy.empty(int(length[0]), numpy.uint8)
    (found,) = _do(BROADCAST, f"{called}.content", [held], root=root_rank)
    return obj if rank() == root_rank else objects.load(found.tobytes())


def broadcast_object_fn(root_rank: int = 0, session: Any = None, name: str | None = None) -> Callable[[Any], Any]:
    return lambda obj: broadcast_object(obj, root_rank, session, name)


def allgather_object(obj: Any, session: Any = None, name: str | None = None, process_set: Any = None) -> list[Any]:
    """What every rank has, in the order of the ranks."""
    check_process_set(process_set)
    called = _basics.name("allgather_object", name)
    content = numpy.frombuffer(objects.dump(obj), numpy.uint8)
    (lengths,) = _do(ALLGATHER, f"{called}.lengths", [numpy.array([content.size], numpy.int64)])
    (whole,) = _do(ALLGATHER, f"{called}.content", [content])
    found, start = [], 0
    for length in lengths.tolist():
        found.append(objects.load(whole[start : start + length].tobytes()))
        start += length
    return found


def _value(variable: Any) -> Any:
    """The tensor in a variable of TensorFlow or of Keras."""
    return variable.value if not callable(getattr(variable, "value", None)) else variable.value()
