"""Median stopping: a trial is stopped when its best is worse than the median of all trials' running averages."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from runyard.scheduler.sweeps.policies.policy import Policy
from runyard.scheduler.sweeps.trials import Trial, is_better, shown


class MedianStopping(Policy):
    def judge(self, trial: Trial, interval: int, others: Sequence[Trial]) -> str | None:
        own = trial.best_within(interval)
        reached = [each for each in (trial, *others) if each.intervals >= interval]
        averages = [average for each in reached if (average := each.average_within(interval)) is not None]
        if own is None or len(averages) < 2:
            return None
        middle = median(averages)
        if own == middle or is_better(own, middle, self.maximizes):
            return None
        return (
            f"stopped at interval {interval}: {shown(own)}, the median of the averages of {len(averages)} runs is "
            f"{shown(middle)}"
        )
