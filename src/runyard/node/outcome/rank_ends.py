"""How the processes of a run have ended so far, on all of its nodes: whether everything is done, and what failed first.

A run of one process is a run with one rank.
"""

from __future__ import annotations

import time
from typing import Any, Iterable, Mapping, NamedTuple

from runyard.contracts.distribution import CHIEF, PARAMETER_SERVER, WORKER, Distribution, Rank
from runyard.node.outcome.exits import Exit

WORKERS_MAY_OUTLIVE_CHIEF = 5.0  # seconds in which they may end by themselves


class RankEnd(NamedTuple):
    """How one process of the run ended. `error` is set when it failed by itself."""

    rank: int
    node: int
    code: int | None
    signal: int | None
    at: float  # of time.monotonic() of the node
    logged: float = 0.0  # last write to its log: decides between two that were seen to end at the same moment
    error: dict[str, Any] | None = None

    @property
    def exit(self) -> Exit:
        return Exit(self.code, self.signal)

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> RankEnd:
        return RankEnd(**{name: fields[name] for name in RankEnd._fields if name in fields})


class RankEnds:
    """The ends that are known of. Times are those of this node's clock."""

    def __init__(self, distribution: Distribution) -> None:
        self._ranks = distribution.ranks()
        self._has_chief = any(rank.role == CHIEF for rank in self._ranks)
        self._ends: dict[int, RankEnd] = {}

    def add(self, ends: Iterable[RankEnd]) -> None:
        for end in ends:
            self._ends.setdefault(end.rank, end)

    def of(self, rank: int) -> RankEnd:
        return self._ends[rank]

    def complete(self) -> bool:
        """Whether every rank has ended, well or not."""
        return len(self._ends) == len(self._ranks)

    def any_failed(self) -> bool:
        return any(not end.exit.ok for end in self._ends.values())

    def unfinished(self) -> list[Rank]:
        """The ranks that have not ended well so far."""
        return [each for each in self._ranks if each.rank not in self._ends or not self._ends[each.rank].exit.ok]

    def done(self) -> bool:
        """Whether the ranks have done all that there was to do. Parameter servers would wait forever: they are done
        when the others are. So would workers that only serve a chief: they are done a while after it."""
        roles = {each.role for each in self.unfinished()}
        if self._has_chief and self._chief_ended_long_ago():
            roles.discard(WORKER)
        return not roles - {PARAMETER_SERVER}

    def first_failure(self) -> RankEnd | None:
        """The rank that failed first by itself; what failed later may have failed because of it."""
        failed = [end for end in self._ends.values() if end.error is not None]
        return min(failed, key=lambda end: (end.at, end.logged)) if failed else None

    def _chief_ended_long_ago(self) -> bool:
        chief = self._ends.get(0)
        return chief is not None and chief.exit.ok and time.monotonic() - chief.at > WORKERS_MAY_OUTLIVE_CHIEF
