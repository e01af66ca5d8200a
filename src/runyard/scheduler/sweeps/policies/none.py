"""No early termination: every trial runs to its end."""

from __future__ import annotations

from collections.abc import Sequence

from runyard.scheduler.sweeps.policies.policy import Policy
from runyard.scheduler.sweeps.trials import Trial


class NoTermination(Policy):
    def is_due(self, interval: int) -> bool:
        return False

    def judge(self, trial: Trial, interval: int, others: Sequence[Trial]) -> str | None:
        return None
