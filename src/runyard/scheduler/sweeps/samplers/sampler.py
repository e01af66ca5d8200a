"""The seam of samplers. To add one: a module with a subclass, and an entry in `SAMPLERS`.

A sampler has no memory: what it gives a trial follows from the number of the trial and from the history. So a server
that was killed goes on as if nothing had happened.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from runyard.contracts.sweeps import sweep as contract
from runyard.contracts.sweeps.space import Space
from runyard.contracts.sweeps.sweep import Sweep
from runyard.scheduler.sweeps import own
from runyard.scheduler.sweeps.trials import Parameters, Trial


class Sampler(ABC):
    """Proposes the parameters of one trial after the other."""

    def __init__(self, space: Space, properties: dict[str, Any], maximizes: bool) -> None:
        self.space, self.properties, self.maximizes = space, properties, maximizes

    @abstractmethod
    def sample(self, number: int, history: Sequence[Trial]) -> Parameters | None:
        """The parameters of trial `number`, counted from 0; None when the space has no more. `history` has the trials
        that are known, those of former sweeps included; some of them may be under way."""


SAMPLERS = {
    contract.RANDOM: "runyard.scheduler.sweeps.samplers.independent:Independent",
    contract.GRID: "runyard.scheduler.sweeps.samplers.grid:Grid",
    contract.BAYESIAN: "runyard.scheduler.sweeps.samplers.bayesian:Bayesian",
    contract.SOBOL: "runyard.scheduler.sweeps.samplers.sobol:Sobol",
}
"""By the name of the sampling; loaded when a sweep asks for it."""


def sampler_of(sweep: Sweep) -> Sampler:
    """The sampler that a sweep asks for. BadSweep when its class cannot be used."""
    name = str(sweep.sampling["name"])
    if name == contract.RANDOM and sweep.properties.get(contract.RULE) == contract.SOBOL:
        name = contract.SOBOL
    kind = own.loaded(SAMPLERS.get(name, name), Sampler)  # type: ignore[type-abstract]  # what is loaded is not
    return own.made(lambda: kind(sweep.space, sweep.properties, sweep.maximizes), name)
