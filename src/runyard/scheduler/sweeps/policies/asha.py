"""Asynchronous successive halving: at each rung only the best part of the trials that have reached it goes on.

Rungs are at `min_intervals`, and each further one at `reduction_factor` times as many intervals. A trial is judged
when it reaches a rung, against those that have been there: nobody waits for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runyard.scheduler.sweeps.policies.policy import Policy
from runyard.scheduler.sweeps.trials import Trial, is_better, shown


class Asha(Policy):
    def __init__(self, properties: dict[str, Any], maximizes: bool) -> None:
        super().__init__(properties, maximizes)
        self.first = int(properties.get("min_intervals") or 1)
        self.factor = int(properties.get("reduction_factor") or 3)

    def is_due(self, interval: int) -> bool:
        rung = self.first
        while rung < interval:
            rung *= self.factor
        return rung == interval

    def judge(self, trial: Trial, interval: int, others: Sequence[Trial]) -> str | None:
        own = trial.best_within(interval)
        there = [other for other in others if other.intervals >= interval]
        bests = [best for other in there if (best := other.best_within(interval)) is not None]
        if own is None or len(bests) + 1 < self.factor:
            return None  # too few to keep one of
        places = (len(bests) + 1) // self.factor
        place = 1 + sum(1 for best in bests if is_better(best, own, self.maximizes))
        if place <= places:
            return None
        return (
            f"stopped at interval {interval}: {shown(own)} is number {place} of {len(bests) + 1} at this rung, and "
            f"the best {places} go on"
        )
