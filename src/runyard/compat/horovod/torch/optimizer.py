"""Optimizers that average the gradients of all ranks: any optimizer of torch, with Horovod's calls added to it.

Gradients are put together in buckets, in about the order in which the backward pass makes them. A bucket is handed in
as soon as its last gradient is there, so that it travels while the pass goes on; `step` waits for all of them.
"""

from __future__ import annotations

import itertools
import os
import warnings
from contextlib import contextmanager
from typing import Any, Iterator, Sequence

import torch

from ..core.basics import Adasum, Average, Sum
from ..core.compression import NoneCompressor
from ..core.process_sets import chosen_ranks, global_process_set
from .adasum_optimizer import AdasumMethods, Deltas
from .collectives import LARGE
from .compression import Compression
from .mpi_ops import _allreduce, _basics, sparse_allreduce_async, synchronize

BUCKET = 25 << 20
"""Bytes of a bucket, as torch's own DistributedDataParallel has it; HOROVOD_FUSION_THRESHOLD sets another size."""


_numbers = itertools.count(1)


class _Bucket:
    """Parameters whose gradients travel together."""

    def __init__(self, name: str, parameters: list[Any]) -> None:
        self.name, self.parameters = name, parameters
        self.left: set[Any] = set(parameters)  # those whose gradient is not there yet
        self.handle: int | None = None
        self.sparse: list[tuple[Any, Any]] = []  # parameters, and what waits for their gradient

    @property
    def launched(self) -> bool:
        return self.handle is not None or bool(self.sparse)


class _Gradients:
    """What a distributed optimizer knows on top of its own: names, buckets and hooks."""

    def __init__(self, optimizer: Any, named: list[tuple[str, Any]], options: dict[str, Any]) -> None:
        self.options, self.names = options, {parameter: name for name, parameter in named}
        wanted = [p for group in optimizer.param_groups for p in group["params"] if p.requires_grad]
        self.passes: int = options["passes"]
        self.counts: dict[Any, int] = dict.fromkeys(wanted, self.passes)
        self.buckets = self._buckets(wanted)
        self.of: dict[Any, _Bucket] = {each: bucket for bucket in self.buckets for each in bucket.parameters}
        self.synchronized, self.should_synchronize = False, True
        for parameter in wanted:
            _when_accumulated(parameter, self._arrived)

    def _buckets(self, wanted: list[Any]) -> list[_Bucket]:
        groups = self.options["groups"]
        found: list[list[Any]] = []
        if isinstance(groups, int) and groups > 0:
            each = -(-len(wanted) // groups)
            found = [wanted[start : start + each] for start in range(0, len(wanted), each)]
        elif groups:
            found = [[each for each in group if each.requires_grad] for group in groups]
            grouped = {each for group in found for each in group}
            found += _by_size([each for each in wanted if each not in grouped])
        else:
            found = _by_size(wanted)
        split = [part for group in found if group for part in _alike(group)]
        # By a number too, the same on every rank: two models of one script may have parameters of the same names.
        number = next(_numbers)
        return [_Bucket(f"{number}.{self.names[part[0]]}+{len(part) - 1}", part) for part in split]

    def _arrived(self, parameter: Any) -> None:
        """A gradient was accumulated; the last of its bucket sends it off."""
        bucket = self.of[parameter]
        if self.counts[parameter] <= 0:
            raise AssertionError(
                f"Gradients were computed more than backward_passes_per_step times before call to step() (for "
                f"{self.names[parameter]!r}). Increase backward_passes_per_step to accumulate gradients locally."
            )
        self.counts[parameter] -= 1
        if self.counts[parameter] == 0:
            bucket.left.discard(parameter)
            if not bucket.left:
                self._launch(bucket)

    def _launch(self, bucket: _Bucket) -> None:
        options = self.options
        dense: list[Any] = []
        for parameter in bucket.parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            if parameter.grad.is_sparse and not options["sparse_as_dense"]:
                name, among = f"{self.names[parameter]}.sparse", options["process_set"]
                waits = sparse_allreduce_async(parameter.grad, name, options["op"], among)
                bucket.sparse.append((parameter, waits))
                continue
            if parameter.grad.is_sparse:
                parameter.grad = parameter.grad.to_dense()
            dense.append(parameter)
        if dense:
            names = [self.names[parameter] for parameter in dense]
            bucket.handle = self._send(bucket, [parameter.grad for parameter in dense], names)

    def _send(self, bucket: _Bucket, gradients: list[Any], names: list[str]) -> int:
        options, among = self.options, self.options["process_set"]
        name = _basics.name("gradients", bucket.name, among)
        pre, post = 1.0, 1.0
        if options["op"] == Average and options["predivide"] != 1.0:
            pre, post = 1.0 / options["predivide"], options["predivide"]
        compression = options["compression"]
        if compression is NoneCompressor:
            pairs = list(zip(gradients, gradients))
            return _allreduce(name, pairs, lambda _: None, options["op"], pre, post, among, names)
        small = [compression.compress(gradient) for gradient in gradients]

        def finish(_: Any) -> None:
            for gradient, (tensor, context) in zip(gradients, small):
                gradient.copy_(compression.decompress(tensor, context))

        pairs = [(tensor, tensor) for tensor, _ in small]
        return _allreduce(name, pairs, finish, options["op"], pre, post, among, names)

    def synchronize(self) -> None:
        """Wait until all gradients are those of all ranks. What no backward pass has reached counts as zero."""
        for bucket in self.buckets:
            if not bucket.launched:
                self._launch(bucket)
        with torch.no_grad():
            for bucket in self.buckets:
                if bucket.handle is not None:
                    synchronize(bucket.handle)
                for parameter, waits in bucket.sparse:
                    parameter.grad = waits()
        self.reset()
        self.synchronized = True

    def reset(self) -> None:
        for bucket in self.buckets:
            bucket.handle, bucket.sparse, bucket.left = None, [], set(bucket.parameters)
        self.counts = dict.fromkeys(self.counts, self.passes)

    @property
    def under_way(self) -> bool:
        return any(bucket.launched for bucket in self.buckets)


class _DistributedOptimizer(torch.optim.Optimizer):
    """Added to the optimizer's own class by `DistributedOptimizer`."""

    _horovod: _Gradients

    def set_backward_passes_per_step(self, passes: int) -> None:
        self._horovod.passes = passes
        self._horovod.counts = dict.fromkeys(self._horovod.counts, passes)

    def synchronize(self) -> None:
        """Wait for the gradients of all ranks, to clip them for example; `step` then belongs into
        `skip_synchronize()`."""
        self._horovod.synchronize()

    @contextmanager
    def skip_synchronize(self) -> Iterator[None]:
        """Within it, `step` does not wait for the gradients: `synchronize` has."""
        self._horovod.should_synchronize = False
        try:
            yield
        finally:
            self._horovod.should_synchronize = True

    def step(self, closure: Any = None) -> Any:
        if self._horovod.should_synchronize:
            if self._horovod.synchronized:
                warnings.warn(
                    "optimizer.step() called without optimizer.skip_synchronize() context after "
                    "optimizer.synchronize(). This can cause training slowdown. You may want to consider using "
                    "optimizer.skip_synchronize() context if you use optimizer.synchronize() in your code.",
                    stacklevel=2,
                )
            self._horovod.synchronize()
        self._horovod.synchronized = False
        return self._horovod_class.step(self, closure)

    def zero_grad(self, *args: Any, **kwargs: Any) -> Any:
        if self._horovod.under_way:
            raise AssertionError(
                "optimizer.zero_grad() was called after loss.backward() but before optimizer.step() or "
                "optimizer.synchronize(). This is prohibited as it can cause a race condition."
            )
        return self._horovod_class.zero_grad(self, *args, **kwargs)


_ADDED = ("set_backward_passes_per_step", "synchronize", "skip_synchronize", "step", "zero_grad")


def DistributedOptimizer(
    optimizer: Any,
    named_parameters: Any = None,
    compression: Any = Compression.none,
    backward_passes_per_step: int = 1,
    op: Any = Average,
    gradient_predivide_factor: float = 1.0,
    num_groups: int = 0,
    groups: Any = None,
    sparse_as_dense: bool = False,
    process_set: Any = global_process_set,
) -> Any:
    """An optimizer of the same class, with the same parameters and state, whose `step` uses the gradients of all ranks.

    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    """
    chosen_ranks(process_set)  # which says so where this rank is none of them
    if gradient_predivide_factor != 1.0 and op != Average:
        raise ValueError("gradient_predivide_factor not supported with op != Average")
    if op not in (Average, Sum, Adasum):
        raise ValueError(f"Gradients are averaged, summed or combined by Adasum, not reduced by {op}.")
    if groups is not None and not (isinstance(groups, list) or (isinstance(groups, int) and groups >= 0)):
        raise ValueError("groups should be a non-negative integer or a list of list of torch.Tensor.")
    named = _named(optimizer, named_parameters)
    if op == Adasum:
        wrapped = _wrapped(optimizer, AdasumMethods)
        wrapped._horovod = Deltas(named, compression, process_set)
        return wrapped
    wrapped = _wrapped(optimizer, _DistributedOptimizer)
    wrapped._horovod = _Gradients(
        wrapped,
        named,
        {
            "compression": compression,
            "passes": backward_passes_per_step,
            "op": op,
            "predivide": gradient_predivide_factor,
            "groups": groups if groups is not None else num_groups,
            "sparse_as_dense": sparse_as_dense,
            "process_set": process_set,
        },
    )
    return wrapped


def _wrapped(optimizer: Any, methods: type) -> Any:
    """The same optimizer, with its options and state, of a class to which methods are added."""
    kind = type(optimizer)
    added = {name: methods.__dict__[name] for name in _ADDED if name in methods.__dict__}
    made: Any = type(kind.__name__, (kind,), {**added, "_horovod_class": kind, "__doc__": kind.__doc__})
    wrapped = made.__new__(made)
    wrapped.__dict__.update({name: value for name, value in vars(optimizer).items() if name != "step"})
    return wrapped


def _named(optimizer: Any, named_parameters: Any) -> list[tuple[str, Any]]:
    parameters = [each for group in optimizer.param_groups for each in group["params"]]
    if named_parameters is None:
        return [(f"allreduce.noname.{place}", each) for place, each in enumerate(parameters)]
    named = list(named_parameters)
    if any(not isinstance(each, tuple) for each in named):
        raise ValueError(
            "named_parameters should be a sequence of tuples (name, parameter), usually produced by "
            "model.named_parameters()."
        )
    names = [name for name, _ in named]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"Parameter names in named_parameters must be unique. Found duplicates: {', '.join(twice)}")
    known = {id(parameter) for _, parameter in named}
    unnamed = sum(id(each) not in known for each in parameters)
    if unnamed:
        raise ValueError(
            "named_parameters was specified, but one or more model parameters were not named. Python object ids: "
            + ", ".join(str(id(each)) for each in parameters if id(each) not in known)
        )
    return named


def _by_size(parameters: list[Any]) -> list[list[Any]]:
    """Buckets in the order of the backward pass, which is about the reverse of that of the parameters. The first is
    small, so that something travels early; what is large travels alone, because it would only wait for others."""
    limit = _limit()
    large: list[list[Any]] = []
    small: list[list[Any]] = []
    room = 0
    for parameter in reversed(parameters):
        size = parameter.numel() * parameter.element_size()
        if size >= LARGE:
            large.append([parameter])
            continue
        if not small or size > room:
            small.append([])
            room = limit if len(small) > 1 else min(limit, 1 << 20)
        small[-1].append(parameter)
        room -= size
    return large + small


def _limit() -> int:
    try:
        return max(int(os.environ.get("HOROVOD_FUSION_THRESHOLD", "")), 1)
    except ValueError:
        return BUCKET


def _alike(parameters: Sequence[Any]) -> list[list[Any]]:
    """Parts of one type and device each."""
    parts: dict[Any, list[Any]] = {}
    for each in parameters:
        parts.setdefault((each.dtype, each.device), []).append(each)
    return list(parts.values())


def _when_accumulated(parameter: Any, call: Any) -> None:
    if hasattr(parameter, "register_post_accumulate_grad_hook"):
        parameter.register_post_accumulate_grad_hook(call)
        return
    node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]  # before torch 2.1
    node.register_hook(lambda *_: call(parameter))
    parameter._runyard_horovod = node  # which would be gone otherwise, and its hook with it
