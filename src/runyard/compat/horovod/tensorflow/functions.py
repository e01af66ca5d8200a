"""Giving all ranks the same start: variables, also those of a graph of TensorFlow 1, and any object."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy
import tensorflow as tf

from ..core import objects
from ..core.requests import ALLGATHER, BROADCAST
from .mpi_ops import _basics, _do, broadcast_all, rank


def broadcast_variables(
    variables: Sequence[Any], root_rank: int, process_set: Any = None, inplace: bool = False
) -> Any:
    """Overwrite variables with those of one rank; in a graph, the operation that does it."""
    held = list(variables)
    if not held:
        return tf.group()
    name = _basics.name("broadcast_variables", f"{len(held)}", process_set)
    values = broadcast_all([_value(each) for each in held], root_rank, name, process_set)
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
    called = _basics.name("broadcast_object", name, process_set)
    content = numpy.frombuffer(objects.dump(obj), numpy.uint8) if rank() == root_rank else numpy.empty(0, numpy.uint8)
    own = [numpy.array([content.size], numpy.int64)]
    (length,) = _do(BROADCAST, f"{called}.length", own, process_set, root=root_rank)
    held = content if rank() == root_rank else numpy.empty(int(length[0]), numpy.uint8)
    (found,) = _do(BROADCAST, f"{called}.content", [held], process_set, root=root_rank)
    return obj if rank() == root_rank else objects.load(found.tobytes())


def broadcast_object_fn(
    root_rank: int = 0, session: Any = None, name: str | None = None, process_set: Any = None
) -> Callable[[Any], Any]:
    return lambda obj: broadcast_object(obj, root_rank, session, name, process_set)


def allgather_object(obj: Any, session: Any = None, name: str | None = None, process_set: Any = None) -> list[Any]:
    """What every rank has, in the order of the ranks."""
    called = _basics.name("allgather_object", name, process_set)
    content = numpy.frombuffer(objects.dump(obj), numpy.uint8)
    (lengths,) = _do(ALLGATHER, f"{called}.lengths", [numpy.array([content.size], numpy.int64)], process_set)
    (whole,) = _do(ALLGATHER, f"{called}.content", [content], process_set)
    found, start = [], 0
    for length in lengths.tolist():
        found.append(objects.load(whole[start : start + length].tobytes()))
        start += length
    return found


def _value(variable: Any) -> Any:
    """The tensor in a variable of TensorFlow or of Keras."""
    return variable.value if not callable(getattr(variable, "value", None)) else variable.value()
