"""Optimizers that combine the steps of all ranks by Adasum.

Every rank makes the step of its own gradients, and what it has changed by that is combined parameter by parameter. So
the optimizer's own rule (momentum, Adam) is applied before the ranks meet, as Horovod does it.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import Any, Iterator

import torch

from ..core.basics import Adasum
from .mpi_ops import _allreduce, _basics, synchronize

_numbers = itertools.count(1)


class Deltas:
    """What the steps of one optimizer are combined by."""

    def __init__(self, named: list[tuple[str, Any]], compression: Any, process_set: Any) -> None:
        self._named, self._compression, self._process_set = named, compression, process_set
        self._number = next(_numbers)

    def combine(self, starts: dict[Any, Any]) -> None:
        """Set every parameter to where it started, moved by the steps of all ranks."""
        kinds: dict[Any, list[tuple[str, Any]]] = {}
        for name, parameter in self._named:
            if parameter in starts:
                kinds.setdefault((parameter.dtype, parameter.device), []).append((name, parameter))
        under_way = [self._begin(place, of_kind, starts) for place, of_kind in enumerate(kinds.values())]
        for handle in under_way:
            synchronize(handle)

    def _begin(self, place: int, named: list[tuple[str, Any]], starts: dict[Any, Any]) -> int:
        small = [self._compression.compress(parameter.detach() - starts[parameter]) for _, parameter in named]

        def finish(_: Any) -> None:
            for (_name, parameter), (tensor, context) in zip(named, small):
                parameter.detach().copy_(starts[parameter] + self._compression.decompress(tensor, context))

        called = _basics.name("steps", f"{self._number}.{place}", self._process_set)
        pairs, names = [(tensor, tensor) for tensor, _ in small], [name for name, _ in named]
        return _allreduce(called, pairs, finish, Adasum, 1.0, 1.0, self._process_set, names)


class AdasumMethods:
    """Added to the optimizer's own class."""

    _horovod: Deltas
    _horovod_class: Any

    def step(self: Any, closure: Any = None) -> Any:
        held = [each for group in self.param_groups for each in group["params"] if each.requires_grad]
        starts = {parameter: parameter.detach().clone() for parameter in held}
        found = self._horovod_class.step(self, closure)
        with torch.no_grad():
            self._horovod.combine(starts)
        return found

    def set_backward_passes_per_step(self, passes: int) -> None:
        """Nothing: gradients add up on each rank until its step."""

    def synchronize(self) -> None:
        """Nothing: the ranks meet in `step`."""

    @contextmanager
    def skip_synchronize(self) -> Iterator[None]:
        raise AssertionError("Skipping synchronization is not supported when using Adasum optimizer.")
        yield
