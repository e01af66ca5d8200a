"""The seam of policies. To add one: a module with a subclass, and an entry in `POLICIES`.

An interval is one log of the primary metric. A policy judges a trial when a value of it arrives, at every multiple of
`evaluation_interval` that is not below `delay_evaluation`, and compares at equal age: with what the others had logged
by the same interval.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from runyard.contracts.sweeps import sweep as contract
from runyard.contracts.sweeps.sweep import Sweep
from runyard.scheduler.sweeps import own
from runyard.scheduler.sweeps.trials import Trial


class Policy(ABC):
    """Judges trials."""

    def __init__(self, properties: dict[str, Any], maximizes: bool) -> None:
        self.properties, self.maximizes = properties, maximizes
        self.evaluation_interval = int(properties.get("evaluation_interval") or 1)
        self.delay_evaluation = int(properties.get("delay_evaluation") or 0)

    def is_due(self, interval: int) -> bool:
        """Whether trials are judged at this interval."""
        return interval % self.evaluation_interval == 0 and interval >= self.delay_evaluation

    @abstractmethod
    def judge(self, trial: Trial, interval: int, others: Sequence[Trial]) -> str | None:
        """Why a trial is to be stopped at this interval; None when it may go on. `others` are all other trials, those
        that have ended included."""


POLICIES = {
    contract.NO_POLICY: "runyard.scheduler.sweeps.policies.none:NoTermination",
    contract.BANDIT: "runyard.scheduler.sweeps.policies.bandit:Bandit",
    contract.MEDIAN: "runyard.scheduler.sweeps.policies.median:MedianStopping",
    contract.TRUNCATION: "runyard.scheduler.sweeps.policies.truncation:TruncationSelection",
    contract.ASHA: "runyard.scheduler.sweeps.policies.asha:Asha",
}


def policy_of(sweep: Sweep) -> Policy:
    """The policy that a sweep asks for. BadSweep when its class cannot be used."""
    name = str(sweep.policy["name"])
    kind = own.loaded(POLICIES.get(name, name), Policy)  # type: ignore[type-abstract]  # what is loaded is not
    return own.made(lambda: kind(sweep.policy_properties, sweep.maximizes), name)
