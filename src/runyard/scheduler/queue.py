"""Who may start now: first come, first served, as long as there are places.

A run that another run has submitted does not wait while its parent is under way: a parent that waits for its
children would otherwise keep them out for ever.
"""

from __future__ import annotations

from collections import OrderedDict


class Queue:
    """The runs that wait, oldest first, and those that hold a place. The scheduler guards it with a lock."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._waiting: OrderedDict[str, str | None] = OrderedDict()  # and the run that submitted each
        self._holding: dict[str, str | None] = {}
        self._untold: list[str] = []

    def wait(self, run_id: str, parent_id: str | None) -> None:
        self._waiting[run_id] = parent_id
        self._untold.append(run_id)

    def hold(self, run_id: str) -> None:
        self._holding[run_id] = self._waiting.pop(run_id, None)

    def give_back(self, run_id: str) -> None:
        """It could not be started after all: it is the next one to be tried."""
        if run_id in self._holding:  # else it has ended meanwhile
            self._waiting[run_id] = self._holding.pop(run_id)
            self._waiting.move_to_end(run_id, last=False)

    def leave(self, run_id: str) -> None:
        self._waiting.pop(run_id, None)
        self._holding.pop(run_id, None)

    def next(self) -> str | None:
        """The run that may start now, or None. It stays in the queue until `hold` or `leave` is called for it."""
        if len(self._holding) < self._places:
            return next(iter(self._waiting), None)
        return next((run for run, parent in self._waiting.items() if parent in self._holding), None)

    def untold(self) -> list[str]:
        """The runs that have begun to wait since this was last asked. They have not been told why yet."""
        untold, self._untold = self._untold, []
        return [run_id for run_id in untold if run_id in self._waiting]

    def why(self) -> str:
        """What a waiting run waits for, in words."""
        holders = sorted(self._holding)
        named = ", ".join(holders[:3]) + (f" and {len(holders) - 3} more" if len(holders) > 3 else "")
        return f"waits for one of {self._places} places of this machine; held by {named}"
