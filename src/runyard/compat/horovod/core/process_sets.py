"""Some of the ranks, which work among themselves: Horovod's process sets.

All ranks add and remove a set together, those that are not in it too. A call on a set is known by its name and the
ranks of the set, so that sets, and all ranks, may use one name at the same time.
"""

from __future__ import annotations

from typing import Any, Sequence

from ..common.exceptions import HorovodInternalError
from . import sessions
from .requests import ranks_in_words


class ProcessSet:
    """Ranks that work among themselves: `even = hvd.add_process_set([0, 2])`, then `process_set=even` in calls."""

    process_set_id: int | None = None
    ranks: list[int] | None = None

    def __init__(self, ranks_or_comm: Sequence[int] | None = None) -> None:
        if ranks_or_comm is None:
            return
        try:
            self.ranks = sorted(int(rank) for rank in ranks_or_comm)
        except TypeError:
            raise NotImplementedError(
                "Runyard's layer for Horovod takes the ranks of a ProcessSet as numbers, not a communicator of mpi4py: "
                "that needs Horovod itself (runyard config set environments.horovod require)."
            ) from None

    def size(self) -> int | None:
        """How many ranks it has; None before it was added."""
        return None if self.process_set_id is None else len(ranks_of(self))

    def rank(self) -> int | None:
        """The place of this process among them."""
        if self.process_set_id is None:
            return None
        if not self.included():
            raise ValueError(f"Rank {sessions.current().place.rank} is not in the {self}.")
        return ranks_of(self).index(sessions.current().place.rank)

    def included(self) -> bool | None:
        """Whether this process is one of them."""
        return None if self.process_set_id is None else sessions.current().place.rank in ranks_of(self)

    def __str__(self) -> str:
        return f"process set of {ranks_in_words(self.ranks)}" if self.ranks else "process set of all ranks"

    __repr__ = __str__


global_process_set = ProcessSet()
global_process_set.process_set_id = 0

_added: dict[int, ProcessSet] = {}


def add_process_set(process_set: ProcessSet | Sequence[int]) -> ProcessSet:
    """Have some ranks work among themselves. Every rank must call it, with the same ranks."""
    wanted = process_set if isinstance(process_set, ProcessSet) else ProcessSet(process_set)
    session = sessions.current()
    ranks, size = wanted.ranks or [], session.place.size
    if wanted.process_set_id is not None:
        raise ValueError(f"The {wanted} was added already.")
    if not ranks or len(set(ranks)) < len(ranks) or ranks[0] < 0 or ranks[-1] >= size:
        raise ValueError(f"A process set holds some ranks from 0 to {size - 1}, each once, not {ranks}.")
    if ranks == list(range(size)) or any(ranks == other.ranks for other in _added.values()):
        raise ValueError(f"There is a process set of {ranks_in_words(ranks)} already.")
    said = session.share("process set", ranks)
    if any(each != ranks for each in said):
        shown = "; ".join(f"rank {rank}: {each}" for rank, each in enumerate(said))
        raise HorovodInternalError(f"The ranks disagree on the process set to be added ({shown}).")
    session.add_ranks(tuple(ranks))
    wanted.process_set_id = max([0, *_added]) + 1  # the same everywhere: all ranks add and remove the same sets
    _added[wanted.process_set_id] = wanted
    return wanted


def remove_process_set(process_set: ProcessSet) -> bool:
    """Every rank must call it; whether there was such a set."""
    number = process_set.process_set_id
    if number == 0 or number not in _added:
        return False
    sessions.current().barrier(f"removal of the {process_set}")
    process_set.process_set_id = None
    del _added[number]
    return True


def forget_all() -> None:
    """At the end of a session: what was added to it is not in the next."""
    for each in _added.values():
        each.process_set_id = None
    _added.clear()


def get_process_set_ids_and_ranks() -> dict[int, list[int]]:
    """Every set by its number."""
    return {0: ranks_of(None), **{number: list(each.ranks or []) for number, each in _added.items()}}


def ranks_of(process_set: Any) -> list[int]:
    """The ranks of a set, of its number, or all of them."""
    chosen = chosen_ranks(process_set, included=False)
    return list(chosen or range(sessions.current().place.size))


def chosen_ranks(process_set: Any, included: bool = True) -> tuple[int, ...]:
    """The ranks of a set that was added; empty for all of them. ValueError where this process is none of them."""
    if process_set is None or process_set is global_process_set or process_set == 0:
        return ()
    found = _added.get(process_set) if isinstance(process_set, int) else process_set
    if not isinstance(found, ProcessSet) or found.process_set_id is None:
        raise ValueError(f"{process_set!r} is no process set that was added: hvd.add_process_set adds one.")
    rank = sessions.current().place.rank
    if included and rank not in (found.ranks or ()):
        raise ValueError(f"Rank {rank} is not in the {found}, and cannot take part in what that does.")
    return tuple(found.ranks or ())
