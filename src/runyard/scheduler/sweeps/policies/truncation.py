"""Truncation selection: of all trials that have come as far, those with the lowest places are stopped."""

from __future__ import annotations

from collections.abc import Sequence

from runyard.scheduler.sweeps.policies.policy import Policy
from runyard.scheduler.sweeps.trials import Trial, is_better, shown


class TruncationSelection(Policy):
    def judge(self, trial: Trial, interval: int, others: Sequence[Trial]) -> str | None:
        own = trial.best_within(interval)
        if own is None:
            return None
        finished_too = not self.properties.get("exclude_finished_jobs")
        bests = [
            best
            for other in others
            if other.intervals >= interval and (finished_too or not other.ended)
            if (best := other.best_within(interval)) is not None
        ]
        percentage = int(self.properties["truncation_percentage"])
        cut = (len(bests) + 1) * percentage // 100
        worse = sum(1 for best in bests if not is_better(best, own, self.maximizes) and best != own)
        if worse >= cut:
            return None
        return (
            f"stopped at interval {interval}: {shown(own)} is among the lowest {cut} of {len(bests) + 1} runs "
            f"({percentage} %)"
        )
