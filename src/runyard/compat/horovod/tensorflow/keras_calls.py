"""What `horovod.keras` and `horovod.tensorflow.keras` have in common: the calls on plain values, and the callbacks.

The two differ in whose Keras they are for, so callbacks are made for the class of callbacks that they bring.
"""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy

from ..core.basics import Average, op_of
from ..core.requests import ALLGATHER, ALLREDUCE, BROADCAST, REDUCESCATTER
from . import functions
from .compression import Compression
from .gradients import Reduction, with_reduction
from .mpi_ops import _basics, _do, size


def DistributedOptimizer(
    optimizer: Any,
    name: str | None = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    sparse_as_dense: bool = False,
    gradient_predivide_factor: float = 1.0,
    op: Any = Average,
    backward_passes_per_step: int = 1,
    average_aggregated_gradients: bool = False,
    num_groups: int = 0,
    groups: Any = None,
    process_set: Any = None,
    scale_local_gradients: bool = True,
) -> Any:
    """An optimizer of Keras that applies the gradients of all ranks."""
    reduction = Reduction(compression, sparse_as_dense, op, gradient_predivide_factor, process_set)
    return with_reduction(optimizer, reduction, backward_passes_per_step, average_aggregated_gradients)


def allreduce(
    value: Any,
    name: str | None = None,
    average: bool | None = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    op: Any = None,
    compression: Any = Compression.none,
    process_set: Any = None,
) -> Any:
    """The reduction of an array or a number over all ranks, as an array or a number."""
    more = {"op": str(op_of(op, average)), "prescale": float(prescale_factor), "postscale": float(postscale_factor)}
    return _plain(_do(ALLREDUCE, _basics.name("allreduce", name, process_set), [_array(value)], process_set, **more)[0])


def allgather(value: Any, name: str | None = None, process_set: Any = None) -> Any:
    return _do(ALLGATHER, _basics.name("allgather", name, process_set), [_array(value)], process_set)[0]


def broadcast(value: Any, root_rank: int, name: str | None = None, process_set: Any = None) -> Any:
    called = _basics.name("broadcast", name, process_set)
    return _plain(_do(BROADCAST, called, [_array(value)], process_set, root=root_rank)[0])


def reducescatter(value: Any, name: str | None = None, op: Any = Average, process_set: Any = None) -> Any:
    called = _basics.name("reducescatter", name, process_set)
    return _do(REDUCESCATTER, called, [_array(value)], process_set, op=str(op_of(op, None)))[0]


def loader(load: Callable[..., Any]) -> Callable[..., Any]:
    """`load_model` of one Keras."""

    def load_model(
        filepath: Any, custom_optimizers: Any = None, custom_objects: Any = None, compression: Any = Compression.none
    ) -> Any:
        """A saved model whose optimizer, with its state, applies the gradients of all ranks."""
        model = load(filepath, custom_objects=custom_objects)
        if getattr(model, "optimizer", None) is not None:
            DistributedOptimizer(model.optimizer, compression=compression)
        return model

    return load_model


def _array(value: Any) -> Any:
    return numpy.asarray(value)


def _plain(array: Any) -> Any:
    return array if array.shape else array[()]


class BroadcastGlobalVariables:
    """All ranks begin with the weights of one, and with the state of its optimizer."""

    model: Any

    def __init__(self, root_rank: int, device: str = "") -> None:
        super().__init__()
        self.root_rank, self.device, self._done = root_rank, device, False

    def on_train_begin(self, logs: Any = None) -> None:
        self._done = False
        if getattr(self.model, "built", False) and self.model.weights:
            functions.broadcast_variables(self.model.weights, self.root_rank)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Once more after the first batch: by then all variables are made, those of the optimizer too."""
        if not self._done:
            self._done = True
            found = self.model.optimizer.variables
            held = [*self.model.weights, *(found() if callable(found) else found)]
            functions.broadcast_variables(held, self.root_rank)


class MetricAverage:
    """Metrics at the end of an epoch are the averages over all ranks."""

    def __init__(self, device: str = "") -> None:
        super().__init__()
        self.device = device

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if not logs or size() == 1:
            return
        names = sorted(name for name, value in logs.items() if numpy.ndim(value) == 0)
        values = numpy.array([float(logs[name]) for name in names], numpy.float64)
        for name, value in zip(names, allreduce(values, name="metrics of the epoch")):
            logs[name] = float(value)


class LearningRateSchedule:
    """The learning rate is `initial_lr` times a factor, or what a function makes of the epoch, from one epoch to
    another. Without `staircase` it changes with every batch."""

    model: Any
    params: Any

    def __init__(
        self,
        initial_lr: float,
        multiplier: Any,
        start_epoch: int = 0,
        end_epoch: int | None = None,
        staircase: bool = True,
        momentum_correction: bool = True,
        steps_per_epoch: int | None = None,
    ) -> None:
        super().__init__()
        if initial_lr is None:
            raise ValueError("Parameter `initial_lr` is required")
        self.initial_lr, self.start_epoch, self.end_epoch = initial_lr, start_epoch, end_epoch
        self.staircase, self.momentum_correction = staircase, momentum_correction
        self.steps_per_epoch, self.current_epoch = steps_per_epoch, 0
        self.multiplier = multiplier if callable(multiplier) else (lambda epoch: multiplier)
        if not callable(multiplier):
            self.staircase = True

    def on_train_begin(self, logs: Any = None) -> None:
        if not self.staircase and not self.steps_per_epoch:
            self.steps_per_epoch = self.params.get("steps") if self.params else None
            if not self.steps_per_epoch:
                raise ValueError("Could not autodetect the number of steps per epoch. Please specify steps_per_epoch")

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.current_epoch = epoch
        if self.staircase and self._now(epoch):
            self._set(self.initial_lr * float(self.multiplier(epoch)))

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        if self.staircase or not self._now(self.current_epoch):
            return
        assert self.steps_per_epoch is not None
        self._set(self.initial_lr * float(self.multiplier(self.current_epoch + batch / self.steps_per_epoch)))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is not None:
            logs["lr"] = learning_rate(self.model.optimizer)

    def _now(self, epoch: float) -> bool:
        return epoch >= self.start_epoch and (self.end_epoch is None or epoch < self.end_epoch)

    def _set(self, rate: float) -> None:
        optimizer = self.model.optimizer
        held: Any = getattr(optimizer, "learning_rate", None)
        if callable(held) and not hasattr(held, "assign"):
            warnings.warn("The optimizer has a schedule of its own: its learning rate is left alone.", stacklevel=2)
            return
        if hasattr(held, "assign"):
            held.assign(rate)
        else:
            optimizer.learning_rate = rate


class LearningRateWarmup(LearningRateSchedule):
    """The learning rate grows from that of one rank to that of all of them, over the first epochs."""

    def __init__(
        self,
        initial_lr: float,
        warmup_epochs: int = 5,
        momentum_correction: bool = True,
        steps_per_epoch: int | None = None,
        verbose: int = 0,
    ) -> None:
        def multiplier(epoch: float) -> float:
            steps = self.steps_per_epoch or 1
            reached = min((epoch + 1.0 / steps) / warmup_epochs, 1.0) if warmup_epochs else 1.0
            return 1.0 / size() * (reached * (size() - 1) + 1)

        super().__init__(initial_lr, multiplier, 0, warmup_epochs, False, momentum_correction, steps_per_epoch)
        self.verbose = verbose

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        super().on_epoch_end(epoch, logs)
        if epoch == (self.end_epoch or 0) - 1 and self.verbose > 0:
            rate = learning_rate(self.model.optimizer)
            print(f"\nEpoch {epoch + 1}: finished gradual learning rate warmup to {rate:g}.")


def learning_rate(optimizer: Any) -> float:
    held = optimizer.learning_rate
    return float(held.numpy() if hasattr(held, "numpy") else held)


_CALLBACKS = (BroadcastGlobalVariables, MetricAverage, LearningRateSchedule, LearningRateWarmup)


def callbacks_of(base: type, module: str) -> tuple[Any, ...]:
    """Horovod's callbacks as classes of one Keras, under the names that Horovod has for them."""
    return tuple(
        type(f"{each.__name__}Callback", (each, base), {"__module__": module, "__doc__": each.__doc__})
        for each in _CALLBACKS
    )
