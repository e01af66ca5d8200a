"""The calls that are the same for every framework: init, shutdown, who am I, what is built.

One session serves all frameworks of a process; each adds the transport for its own tensors when it is initialized.
"""

from __future__ import annotations

import atexit
import itertools
import os
import sys
from typing import Any, Callable, Iterator, Sequence

from ..common.exceptions import HorovodInternalError, NotInitialized
from . import places
from .negotiator import Negotiator, Transport

_sessions: dict[str, Negotiator] = {}  # the one that is open, under ""
_generation = itertools.count()


class ReduceOp(str):
    """How tensors are combined; compared by identity or name."""

    __slots__ = ()


Average, Sum, Adasum = ReduceOp("average"), ReduceOp("sum"), ReduceOp("adasum")
Min, Max, Product = ReduceOp("min"), ReduceOp("max"), ReduceOp("product")


class ProcessSet:
    """All ranks. Horovod can also work on a part of them, which this layer cannot."""

    process_set_id: int | None = 0
    ranks: Sequence[int] | None = None

    def __init__(self, ranks_or_comm: Sequence[int] | None = None) -> None:
        if ranks_or_comm is not None:
            raise NotImplementedError(
                "Runyard's layer for Horovod works on all ranks only: a ProcessSet of some of them needs Horovod "
                "itself (runyard config set environments.horovod require)."
            )

    def size(self) -> int:
        return session().place.size

    def rank(self) -> int:
        return session().place.rank

    def included(self) -> bool:
        return True


global_process_set = ProcessSet()


def session() -> Negotiator:
    found = _sessions.get("")
    if found is None:
        raise NotInitialized
    return found


def check_process_set(process_set: Any) -> None:
    if process_set not in (None, 0, global_process_set):
        ProcessSet([0])


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
        if process_sets:
            ProcessSet([0])
        place = places.find(os.environ)
        if comm is not None and isinstance(comm, (list, tuple)) and list(comm) != list(range(place.size)):
            ProcessSet(comm)
        opened = "" not in _sessions
        if opened:
            _sessions[""] = Negotiator(place, next(_generation))
            atexit.register(self.shutdown)
        _sessions[""].use(self._framework, self._make)
        if opened and place.rank == 0 and place.size > 1:
            print(
                f"Horovod's interface is given by Runyard here, over {self._framework}: {place.size} ranks.",
                file=sys.stderr,
                flush=True,
            )

    def shutdown(self) -> None:
        """Leave. What other ranks still want done with this one fails there."""
        found = _sessions.pop("", None)
        self._names.clear()
        if found is not None:
            found.close()

    def is_initialized(self) -> bool:
        return "" in _sessions and _sessions[""].uses(self._framework)

    def rank(self) -> int:
        return session().place.rank

    def size(self) -> int:
        return session().place.size

    def local_rank(self) -> int:
        return session().place.local_rank

    def local_size(self) -> int:
        return session().place.local_size

    def cross_rank(self) -> int:
        return session().place.cross_rank

    def cross_size(self) -> int:
        return session().place.cross_size

    def is_homogeneous(self) -> bool:
        """Whether all nodes have the same number of ranks: Runyard starts no others."""
        return session().place.size == session().place.local_size * session().place.cross_size

    def name(self, kind: str, name: str | None) -> str:
        """The name of a collective: the user's, or one that counts up, the same on every rank."""
        if name is None:
            return f"{kind}.noname.{next(self._names.setdefault(kind, itertools.count(1)))}"
        return f"{kind}.{name}"

    def join(self, device: int = -1) -> int:
        """Take part with zeros until all ranks have joined; the last rank to join comes back."""
        return session().join()

    def barrier(self, process_set: ProcessSet = global_process_set) -> None:
        check_process_set(process_set)
        session().barrier(self.name("barrier", None))

    @staticmethod
    def mpi_threads_supported() -> bool:
        session()
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
