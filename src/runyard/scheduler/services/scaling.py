"""How many replicas a load needs: busy places by all places against a target, up at once, down after a while.

A place is one call of run() that a replica can do at a time. `needed` is pure; `Scaler` remembers what was needed
lately, because a load that goes away for a second comes back.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from runyard.contracts.services.settings import Autoscale


@dataclass(frozen=True)
class Load:
    """What the replicas of a version do at a moment: places that work, requests that wait for one."""

    busy: float = 0.0
    waiting: float = 0.0


def needed(load: Load, places: int, scale: Autoscale) -> int:
    """The replicas that a load needs, each with so many places.

    >>> [needed(Load(busy), 1, Autoscale(True, 1, 10, 70)) for busy in (0, 1, 2, 7, 100)]
    [1, 2, 3, 10, 10]
    >>> needed(Load(0, waiting=1), 1, Autoscale(True, 0, 10, 70)), needed(Load(), 1, Autoscale(True, 0, 10, 70))
    (2, 0)
    """
    wanted = math.ceil((load.busy + load.waiting) / (scale.target_utilization / 100) / max(1, places))
    return max(scale.min, min(scale.max, wanted))


class Scaler:
    """The replicas of one version over time. `now` is of a clock that never goes back."""

    def __init__(self, replicas: int, now: float) -> None:
        self._seen: deque[tuple[float, int]] = deque([(now, replicas)])

    def replicas(self, load: Load, places: int, scale: Autoscale, now: float) -> int:
        """How many there are to be: the most that was needed within the time after which fewer may do."""
        self._seen.append((now, needed(load, places, scale)))
        while self._seen[0][0] < now - scale.down_seconds:
            self._seen.popleft()
        return max(scale.min, min(scale.max, max(count for _, count in self._seen)))
