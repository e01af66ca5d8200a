"""Sobol sampling: points that fill the space evenly. The sequence is SciPy's."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from runyard.contracts.sweeps.sweep import SEED, BadSweep
from runyard.scheduler.sweeps.samplers import draws
from runyard.scheduler.sweeps.samplers.sampler import Sampler
from runyard.scheduler.sweeps.trials import Parameters, Trial


class Sobol(Sampler):
    def sample(self, number: int, history: Sequence[Trial]) -> Parameters | None:
        sequence = _qmc().Sobol(len(self.space), seed=abs(int(self.properties.get(SEED, 0))))
        if number:
            sequence.fast_forward(number)
        (point,) = sequence.random(1)
        return {
            name: draws.value(expression, float(at))
            for (name, expression), at in zip(self.space.items(), point, strict=True)
        }


def _qmc() -> Any:
    try:
        return importlib.import_module("scipy.stats.qmc")
    except ImportError:
        raise BadSweep(
            "Sobol sampling needs SciPy where the server runs: `pip install scipy` there, then restart the server."
        ) from None
