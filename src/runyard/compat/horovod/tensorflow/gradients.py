"""Gradients of all ranks: reductions of tensors and slices, the tape, and optimizers of Keras and of TensorFlow 1.

The gradients of one step are one operation, so that a graph has one thing to wait for however few threads it has.
"""

from __future__ import annotations

import hashlib
from typing import Any, Sequence

import tensorflow as tf

from ..core.basics import Adasum, Average, Sum, op_of
from ..core.process_sets import chosen_ranks, ranks_of
from .compression import Compression
from .mpi_ops import _basics, grouped_gather, reduce_all


def allreduce(
    tensor: Any,
    average: bool | None = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    op: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    name: str | None = None,
    process_set: Any = None,
    ignore_name_scope: bool = False,
) -> Any:
    """The average of a tensor over all ranks, or another reduction of it; of slices, those of all ranks."""
    chosen, called = op_of(op, average), _basics.name("allreduce", name, process_set)
    if isinstance(tensor, tf.IndexedSlices):
        return _slices(tensor, called, chosen, process_set)
    given = tf.convert_to_tensor(tensor)
    small, context = compression.compress(given)
    reduced = reduce_all([small], called, chosen, prescale_factor, postscale_factor, process_set)[0]
    return compression.decompress(reduced, context)


def grouped_allreduce(
    tensors: Sequence[Any],
    average: bool | None = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    op: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = None,
    ignore_name_scope: bool = False,
    name: str | None = None,
) -> list[Any]:
    small = [compression.compress(tf.convert_to_tensor(tensor)) for tensor in tensors]
    called, chosen = _basics.name("grouped_allreduce", name, process_set), op_of(op, average)
    given = [tensor for tensor, _ in small]
    reduced = reduce_all(given, called, chosen, prescale_factor, postscale_factor, process_set)
    return [compression.decompress(tensor, context) for tensor, (_, context) in zip(reduced, small)]


def _slices(given: Any, name: str, op: Any, process_set: Any) -> Any:
    """Rows of all ranks side by side: whoever applies them adds those that meet."""
    if op not in (Average, Sum):
        raise NotImplementedError(f"Slices can be averaged or summed, not reduced by {op}.")
    values, indices = grouped_gather([given.values, given.indices], name, process_set)
    if op == Average:
        values = values / tf.cast(len(ranks_of(process_set)), values.dtype)
    return tf.IndexedSlices(values, indices, dense_shape=given.dense_shape)


class Reduction:
    """How gradients are reduced: the options that the tape and the optimizers share."""

    def __init__(
        self, compression: Any, sparse_as_dense: bool, op: Any, predivide: float, passes: int, process_set: Any
    ) -> None:
        chosen_ranks(process_set)  # which says so where this rank is none of them
        if predivide != 1.0 and op != Average:
            raise ValueError("gradient_predivide_factor not supported with op != Average")
        if passes > 1:
            raise NotImplementedError(
                "Runyard's layer for Horovod has no backward_passes_per_step for TensorFlow: leave it out, or use "
                "Horovod itself (runyard config set environments.horovod require)."
            )
        self._compression, self._as_dense, self.op = compression, sparse_as_dense, op_of(op, None)
        self._process_set = process_set
        self._factors = (1.0 / predivide, predivide)

    def __call__(self, gradients: Sequence[Any]) -> list[Any]:
        """The gradients of all ranks, in the same order; None stays None."""
        if len(ranks_of(self._process_set)) == 1:
            return list(gradients)
        held = [
            tf.convert_to_tensor(each) if self._as_dense and isinstance(each, tf.IndexedSlices) else each
            for each in gradients
        ]
        found = list(held)
        dense = [
            place for place, each in enumerate(held) if each is not None and not isinstance(each, tf.IndexedSlices)
        ]
        if dense:
            small = [self._compression.compress(held[place]) for place in dense]
            given = [tensor for tensor, _ in small]
            name = _basics.name("gradients", _mark(given), self._process_set)
            reduced = reduce_all(given, name, self.op, *self._factors, self._process_set)
            for place, tensor, (_, context) in zip(dense, reduced, small):
                found[place] = self._compression.decompress(tensor, context)
        for place, each in enumerate(held):
            if isinstance(each, tf.IndexedSlices):
                name = _basics.name("gradients", f"{_mark(held)}.slices.{place}", self._process_set)
                found[place] = _slices(each, name, self.op, self._process_set)
        return found


def _mark(tensors: Sequence[Any]) -> str:
    """A name that is the same on every rank that trains the same model, whatever its variables are called there."""
    said = [f"{each.dtype.name}{each.shape}" for each in tensors if each is not None]
    return f"{len(tensors)}.{hashlib.sha256(' '.join(said).encode()).hexdigest()[:8]}"


def DistributedGradientTape(
    gradtape: Any,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    sparse_as_dense: bool = False,
    op: Any = Average,
    gradient_predivide_factor: float = 1.0,
    num_groups: int = 0,
    groups: Any = None,
    process_set: Any = None,
    scale_local_gradients: bool = True,
) -> Any:
    """A tape whose `gradient` returns the gradients of all ranks."""
    reduction = Reduction(compression, sparse_as_dense, op, gradient_predivide_factor, 1, process_set)
    kind = type(gradtape)

    def gradient(self: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
        found = kind.gradient(self, target, sources, *args, **kwargs)
        flat = tf.nest.flatten(found, expand_composites=False)
        return tf.nest.pack_sequence_as(found, reduction(flat))

    made: Any = type(kind.__name__, (kind,), {"gradient": gradient})
    wrapped = made.__new__(made)
    wrapped.__dict__ = gradtape.__dict__  # one tape: what one has recorded, the other knows
    return wrapped


class _GraphOptimizer(tf.compat.v1.train.Optimizer):
    """An optimizer of TensorFlow 1 around another, whose gradients are those of all ranks."""

    def __init__(self, optimizer: Any, reduction: Reduction, name: str | None, use_locking: bool) -> None:
        super().__init__(name=name or f"Distributed{type(optimizer).__name__}", use_locking=use_locking)
        self._optimizer, self._reduction = optimizer, reduction

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        found = self._optimizer.compute_gradients(*args, **kwargs)
        reduced = self._reduction([gradient for gradient, _ in found])
        return list(zip(reduced, [variable for _, variable in found]))

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.apply_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.variables(*args, **kwargs)


class _GraphAdasum(_GraphOptimizer):
    """Each rank applies its own gradients, and what its variables have changed by is combined by Adasum."""

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        pairs = [(gradient, variable) for gradient, variable in grads_and_vars if gradient is not None]
        held = [variable for _, variable in pairs]
        with tf.control_dependencies([gradient for gradient, _ in pairs]):
            starts = [tf.raw_ops.DeepCopy(x=variable.read_value()) for variable in held]
        with tf.control_dependencies(starts):
            applied = self._optimizer.apply_gradients(pairs, *args, **kwargs)
        with tf.control_dependencies([applied]):
            deltas = [variable.read_value() - start for variable, start in zip(held, starts)]
        combined = self._reduction(deltas)
        done = [variable.assign(start + delta) for variable, start, delta in zip(held, starts, combined)]
        return tf.group(*done)


def DistributedOptimizer(
    optimizer: Any,
    name: str | None = None,
    use_locking: bool = False,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    sparse_as_dense: bool = False,
    backward_passes_per_step: int = 1,
    op: Any = Average,
    gradient_predivide_factor: float = 1.0,
    average_aggregated_gradients: bool = False,
    num_groups: int = 0,
    groups: Any = None,
    process_set: Any = None,
    scale_local_gradients: bool = True,
) -> Any:
    """An optimizer that applies the gradients of all ranks: one of Keras, or of `tf.compat.v1.train`."""
    reduction = Reduction(
        compression, sparse_as_dense, op, gradient_predivide_factor, backward_passes_per_step, process_set
    )
    if isinstance(optimizer, tf.compat.v1.train.Optimizer):
        kind = _GraphOptimizer if op != Adasum else _GraphAdasum
        return kind(optimizer, reduction, name, use_locking)
    return with_reduction(optimizer, reduction)


def with_reduction(optimizer: Any, reduction: Reduction) -> Any:
    """The same optimizer of Keras, with its options and state, whose class now reduces what it applies."""
    kind = type(optimizer)
    if getattr(kind, "_horovod", False):
        return optimizer
    if reduction.op == Adasum:
        raise NotImplementedError(
            "Horovod has no Adasum for optimizers of Keras: op=hvd.Adasum is for hvd.allreduce, "
            "hvd.DistributedGradientTape and optimizers of tf.compat.v1.train."
        )

    def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        return kind.apply(self, reduction(list(grads)), trainable_variables)

    def apply_gradients(self: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        pairs = list(grads_and_vars)
        reduced = reduction([gradient for gradient, _ in pairs])
        return kind.apply_gradients(self, list(zip(reduced, [variable for _, variable in pairs])), *args, **kwargs)

    added = {"apply": apply} if callable(getattr(kind, "apply", None)) else {"apply_gradients": apply_gradients}
    # Under the module of its own class: Keras writes it into saved models, which load without Horovod.
    more = {"_horovod": True, "__module__": kind.__module__, "__doc__": kind.__doc__}
    optimizer.__class__ = type(kind.__name__, (kind,), {**added, **more})
    return optimizer
