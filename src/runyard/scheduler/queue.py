"""Who may start now: first come, first served, on the nodes of one compute target.

A run takes all its nodes at once. One that came later may go before one that waits only if that delays nobody,
however long anything runs: `first_to_start` has the rule.

On this machine itself, a run that another run has submitted, as its child or not, does not wait while that one is under
way: one that waits for what it has submitted would otherwise block it for ever.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

NAMED = 3
"""Runs that a reason names; the others are counted."""


def first_to_start(total: int, holding: Iterable[int], waiting: Iterable[int]) -> int | None:
    """Which of the waiting runs may start now, as an index; None when none may. Runs are given by their nodes.

    A run of n nodes may start although others that came before it wait, if it is never in their way. Nobody knows
    which of those that hold nodes now will still hold them when the turn of a waiting run comes: so whenever any of
    them together leave that run enough nodes, they must leave it enough with n fewer. Those that wait are held against
    the ones behind them in the same way, one after the other.

    >>> first_to_start(4, [3], [2, 1])  # once the run of 3 has ended, the run of 2 finds enough nodes beside that of 1
    1
    >>> first_to_start(4, [2, 1], [2, 1])  # once the run that holds 1 has ended, the run of 2 needs both free nodes
    """
    held = list(holding)
    room = total - sum(held)  # how many nodes a run may have to be in nobody's way
    in_reach = (2 << total) - 1
    sums = 1  # bit r is set when some of those that hold nodes have r together
    for nodes in held:
        sums |= sums << nodes & in_reach
    for index, nodes in enumerate(waiting):
        if room <= 0:
            return None
        if nodes <= room:
            return index
        if nodes > total:
            continue  # it cannot start before the target grows: it has no turn that could be delayed
        left = total - nodes
        most_held = (sums & (2 << left) - 1).bit_length() - 1  # that still leaves it enough
        room = min(room, left - most_held)
        sums |= sums << nodes & in_reach
    return None


class Waiting(NamedTuple):
    """A run in the queue. The oldest run comes first, also when it is there for the second time."""

    came: datetime
    run_id: str
    nodes: int = 1
    parent_id: str | None = None  # or the run that it was submitted from


class Queue:
    """The runs that wait for one target, and those that hold nodes of it. Its owner guards it with a lock.

    `total` is how many nodes there are; None when only the cluster behind the target knows. Of the runs that were
    handed over to such a cluster, at most `unplaced` may be without their nodes at a time.
    """

    def __init__(
        self, name: str, total: int | None, *, children_pass: bool = False, unplaced: int | None = None
    ) -> None:
        self.total = total
        self._name = name
        self._children_pass = children_pass
        self._most_unplaced = unplaced
        self._entries: list[Waiting] = []  # by age
        self._waiting: dict[str, Waiting] = {}
        self._holding: dict[str, Waiting] = {}
        self._unplaced: dict[str, None] = {}
        self._new: list[str] = []

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._waiting or run_id in self._holding

    def wait(self, entry: Waiting) -> None:
        self._remove(entry.run_id)
        bisect.insort(self._entries, entry)
        self._waiting[entry.run_id] = entry
        self._new.append(entry.run_id)

    def hold(self, entry: Waiting, placed: bool = True) -> None:
        """The run has its nodes, or has been handed over to a cluster that will give them."""
        self._remove(entry.run_id)
        self._holding[entry.run_id] = entry
        if not placed:
            self._unplaced[entry.run_id] = None

    def placed(self, run_id: str) -> None:
        self._unplaced.pop(run_id, None)

    def give_back(self, run_id: str) -> None:
        """It could not be started after all: it waits again, where it was."""
        entry = self._holding.get(run_id)
        if entry is not None:  # else it has ended meanwhile
            self.leave(run_id)
            bisect.insort(self._entries, entry)
            self._waiting[run_id] = entry

    def leave(self, run_id: str) -> None:
        self._remove(run_id)
        self._holding.pop(run_id, None)
        self._unplaced.pop(run_id, None)

    def next(self) -> Waiting | None:
        """The run that may start now, or None. It stays in the queue until `hold` or `leave` is called for it."""
        if self._most_unplaced is not None and len(self._unplaced) >= self._most_unplaced:
            return None
        if self.total is None:
            return self._entries[0] if self._entries else None
        sizes = (entry.nodes for entry in self._holding.values())
        index = first_to_start(self.total, sizes, (entry.nodes for entry in self._entries))
        if index is not None:
            return self._entries[index]
        if self._children_pass:
            return next((entry for entry in self._entries if entry.parent_id in self._holding), None)
        return None

    @property
    def has_new(self) -> bool:
        """Whether `newly_waiting` may return something."""
        return bool(self._new)

    def newly_waiting(self) -> list[str]:
        """The runs that have begun to wait since the last call: their reason is not stored yet."""
        new, self._new = self._new, []
        return [run_id for run_id in new if run_id in self._waiting]

    def runs(self) -> list[str]:
        """Those that hold nodes, then those that wait."""
        return [*self._holding, *(entry.run_id for entry in self._entries)]

    def why(self, run_id: str) -> str | None:
        """What a waiting run waits for, as a sentence; None when it does not wait."""
        entry = self._waiting.get(run_id)
        if entry is None:
            return None
        if self.total is None:
            first = next(iter(self._unplaced), None) or self._entries[0].run_id
            if first == run_id:
                return f"is about to be handed over to {self._name}"
            return f"waits until run {first}, which came before it, has its nodes on {self._name}"
        wanted = f"waits for {entry.nodes} of {self.total} nodes of {self._name}"
        if entry.nodes > self.total:
            return f"{wanted}: make the target larger, or submit the run with fewer nodes"
        held = sum(each.nodes for each in self._holding.values())
        if entry.nodes <= self.total - held and self._entries[0].run_id != run_id:
            ahead = self._entries[0]
            return f"{wanted}; run {ahead.run_id}, which came before it, waits for {ahead.nodes}"
        return f"{wanted}; {self._holders()}"

    def _holders(self) -> str:
        holders = sorted(self._holding.values(), key=lambda entry: (-entry.nodes, entry.run_id))
        if not holders:
            return "they are about to be given"
        if len(holders) == 1:
            return f"run {holders[0].run_id} holds {holders[0].nodes}"
        named = ", ".join(f"{entry.run_id} ({entry.nodes})" for entry in holders[:NAMED])
        more = f" and {len(holders) - NAMED} more" if len(holders) > NAMED else ""
        return f"held by {named}{more}"

    def _remove(self, run_id: str) -> None:
        entry = self._waiting.pop(run_id, None)
        if entry is not None:
            del self._entries[bisect.bisect_left(self._entries, entry)]
