"""Bandit: a trial is stopped when its best is too far from that of the best trial, by a ratio or by a distance."""

from __future__ import annotations

from collections.abc import Sequence

from runyard.scheduler.sweeps.policies.policy import Policy
from runyard.scheduler.sweeps.trials import Trial, is_better, shown


class Bandit(Policy):
    def judge(self, trial: Trial, interval: int, others: Sequence[Trial]) -> str | None:
        own = trial.best_within(interval)
        bests = [best for other in others if (best := other.best_within(interval)) is not None]
        if own is None or not bests:
            return None
        best = max(bests) if self.maximizes else min(bests)
        allowed = self._allowed(best)
        if own == allowed or is_better(own, allowed, self.maximizes):
            return None
        return f"stopped at interval {interval}: {shown(own)}, the best has {shown(best)}, allowed {shown(allowed)}"

    def _allowed(self, best: float) -> float:
        """The ratio is that of sizes, so that a negative metric has slack on its worse side too."""
        amount = self.properties.get("slack_amount")
        if amount is not None:
            return best - float(amount) if self.maximizes else best + float(amount)
        ratio = 1.0 + float(self.properties["slack_factor"])
        return best / ratio if (best > 0) == self.maximizes else best * ratio
