"""Random sampling: each trial is drawn by itself, from the seed and its number."""

from __future__ import annotations

import random
from collections.abc import Sequence

from runyard.contracts.sweeps.sweep import SEED
from runyard.scheduler.sweeps.samplers import draws
from runyard.scheduler.sweeps.samplers.sampler import Sampler
from runyard.scheduler.sweeps.trials import Parameters, Trial


class Independent(Sampler):
    """With the same seed the same values, in the same order, whatever the trials log."""

    def sample(self, number: int, history: Sequence[Trial]) -> Parameters | None:
        source = random.Random(f"{self.properties.get(SEED, 0)}:{number}")
        return {name: draws.value(expression, source.random()) for name, expression in self.space.items()}
