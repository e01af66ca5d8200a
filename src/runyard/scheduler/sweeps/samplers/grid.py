"""Grid sampling: every combination once, the last parameter changing fastest."""

from __future__ import annotations

from collections.abc import Sequence

from runyard.scheduler.sweeps.samplers.sampler import Sampler
from runyard.scheduler.sweeps.trials import Parameters, Trial


class Grid(Sampler):
    def sample(self, number: int, history: Sequence[Trial]) -> Parameters | None:
        left = number
        chosen = {}
        for name, expression in reversed(list(self.space.items())):
            left, position = divmod(left, len(expression.options))
            chosen[name] = expression.options[position]
        return None if left else {name: chosen[name] for name in self.space}
