"""The calls that are the same for every framework: init, shutdown, who am I, what is built.

One session serves all frameworks of a process; each adds the transport for its own tensors when it is initialized.
"""

from __future__ import annotations

import atexit
import itertools
import os
import sys
from typing import Any, Callable, Iterator

from ..common.exceptions import HorovodInternalError
from . import places, sessions
from .negotiator import Negotiator, Transport
from .process_sets import add_process_set, chosen_ranks, forget_all, global_process_set
from .requests import name_within

_generation = itertools.count()


class ReduceOp(str):
    """How tensors are combined; compared by identity or name."""

    __slots__ = ()


Average, Sum, Adasum = ReduceOp("average"), ReduceOp("sum"), ReduceOp("adasum")
Min, Max, Product = ReduceOp("min"), ReduceOp("max"), ReduceOp("product")


def op_of(op: ReduceOp | None, average: bool | None) -> ReduceOp:
    """The reduction, from the argument of today or the one of old."""
    if op is not None and average is not None:
        raise ValueError("The op parameter supersedes average. Please provide only one of them.")
    if op is None:
        return Sum if average is False else Average
    if not isinstance(op, ReduceOp):
        raise ValueError(f"{op!r} is no reduction: use hvd.Average, Sum, Min, Max, Product or Adasum.")
    return op


class Basics:
    """The calls of one framework's module."""

    def __init__(self, framework: str, make: Callable[[Negotiator], Transport]) -> None:
        self._framework, self._make = framework, make
        self._names: dict[str, Iterator[int]] = {}

    def init(self, comm: Any = None, process_sets: Any = None) -> None:
        """Meet the other ranks. Calling it again changes nothing."""
        place = places.find(os.environ)
        if comm is not None and (not isinstance(comm, (list, tuple)) or list(comm) != list(range(place.size))):
            raise NotImplementedError(
                "Runyard's layer for Horovod begins with all ranks: hvd.init(process_sets=[hvd.ProcessSet([0, 1])]) "
                "has some of them work among themselves; hvd.init(comm=...) needs Horovod itself (runyard config set "
                "environments.horovod require)."
            )
        opened = sessions.found() is None
        if opened:
            sessions.enter(Negotiator(place, next(_generation)))
            atexit.register(self.shutdown)
        sessions.current().use(self._framework, self._make)
        if opened and process_sets and process_sets != "dynamic":
            for each in process_sets:
                add_process_set(each)
        if opened and place.rank == 0 and place.size > 1:
            print(
                f"Horovod's interface is given by Runyard here, over {self._framework}: {place.size} ranks.",
                file=sys.stderr,
                flush=True,
            )

    def shutdown(self) -> None:
        """Leave. What other ranks still want done with this one fails there."""
        found = sessions.found()
        sessions.leave()
        forget_all()
        self._names.clear()
        if found is not None:
            found.close()

    def is_initialized(self) -> bool:
        found = sessions.found()
        return found is not None and found.uses(self._framework)

    def rank(self) -> int:
        return sessions.current().place.rank

    def size(self) -> int:
        return sessions.current().place.size

    def local_rank(self) -> int:
        return sessions.current().place.local_rank

    def local_size(self) -> int:
        return sessions.current().place.local_size

    def cross_rank(self) -> int:
        return sessions.current().place.cross_rank

    def cross_size(self) -> int:
        return sessions.current().place.cross_size

    def is_homogeneous(self) -> bool:
        """Whether all nodes have the same number of ranks: Runyard starts no others."""
        place = sessions.current().place
        return place.size == place.local_size * place.cross_size

    def name(self, kind: str, name: str | None, process_set: Any = None) -> str:
        """The name of a collective: the user's, or one that counts up, the same on every rank that takes part."""
        ranks = chosen_ranks(process_set)
        if name is None:
            name = f"noname.{next(self._names.setdefault(name_within(kind, ranks), itertools.count(1)))}"
        return name_within(f"{kind}.{name}", ranks)

    def join(self, device: int = -1) -> int:
        """Take part with zeros until all ranks have joined; the last rank to join comes back."""
        return sessions.current().join()

    def barrier(self, process_set: Any = global_process_set) -> None:
        sessions.current().barrier(self.name("barrier", None, process_set), chosen_ranks(process_set))

    @staticmethod
    def mpi_threads_supported() -> bool:
        sessions.current()
        return False

    @staticmethod
    def no(verbose: bool = False) -> bool:
        """Of what Horovod may be built with and this layer has not."""
        return False

    @staticmethod
    def yes(verbose: bool = False) -> bool:
        """Of what Horovod may be built with and this layer has, or has its like of."""
        return True

    @staticmethod
    def start_timeline(file_path: str, mark_cycles: bool = False) -> None:
        raise NotImplementedError(
            "Runyard's layer for Horovod writes no timeline: use the profiler of the framework, or Horovod itself."
        )

    @staticmethod
    def stop_timeline() -> None:
        raise HorovodInternalError("No timeline was started.")
