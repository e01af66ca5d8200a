"""Early termination policies: which children of a sweep are stopped before their end."""

from __future__ import annotations

from typing import Any, Mapping

from runyard.contracts.sweeps import sweep as contract
from runyard.contracts.sweeps.sweep import BadSweep
from runyard.sdk.exceptions import HyperDriveConfigException


class EarlyTerminationPolicy:
    """A policy by its name, also ASHA, or `module:Class` of one of your own."""

    def __init__(self, name: str, properties: Mapping[str, Any] | None = None) -> None:
        self._name, self._properties = name, dict(properties or {})
        try:
            contract.check_policy(self.to_json())
        except BadSweep as error:
            raise HyperDriveConfigException(str(error)) from None

    def to_json(self) -> dict[str, Any]:
        """The policy as it is stored."""
        return {"name": self._name, "properties": self._properties} if self._properties else {"name": self._name}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self._properties.items())})"


class _Interval(EarlyTerminationPolicy):
    """A policy that judges at every so many logs of the primary metric."""

    @property
    def evaluation_interval(self) -> int:
        return int(self._properties["evaluation_interval"])

    @property
    def delay_evaluation(self) -> int:
        return int(self._properties["delay_evaluation"])


class NoTerminationPolicy(EarlyTerminationPolicy):
    """Every child runs to its end."""

    POLICY_NAME = contract.NO_POLICY

    def __init__(self) -> None:
        super().__init__(self.POLICY_NAME)


class BanditPolicy(_Interval):
    """Stop a child whose best is further from that of the best child than a ratio or a distance allows.

    >>> BanditPolicy(evaluation_interval=2, slack_factor=0.1).slack_factor
    0.1
    """

    POLICY_NAME = contract.BANDIT

    def __init__(
        self,
        evaluation_interval: int = 1,
        slack_factor: float | None = None,
        slack_amount: float | None = None,
        delay_evaluation: int = 0,
    ) -> None:
        given = {"evaluation_interval": evaluation_interval, "delay_evaluation": delay_evaluation}
        slack = {"slack_factor": slack_factor, "slack_amount": slack_amount}
        super().__init__(
            self.POLICY_NAME, {**given, **{key: value for key, value in slack.items() if value is not None}}
        )

    @property
    def slack_factor(self) -> float | None:
        return self._properties.get("slack_factor")

    @property
    def slack_amount(self) -> float | None:
        return self._properties.get("slack_amount")


class MedianStoppingPolicy(_Interval):
    """Stop a child whose best is worse than the median of the running averages of all."""

    POLICY_NAME = contract.MEDIAN

    def __init__(self, evaluation_interval: int = 1, delay_evaluation: int = 0) -> None:
        given = {"evaluation_interval": evaluation_interval, "delay_evaluation": delay_evaluation}
        super().__init__(self.POLICY_NAME, given)


class TruncationSelectionPolicy(_Interval):
    """Stop the lowest so many percent of those that have come as far."""

    POLICY_NAME = contract.TRUNCATION

    def __init__(
        self,
        truncation_percentage: int,
        evaluation_interval: int = 1,
        delay_evaluation: int = 0,
        exclude_finished_jobs: bool = False,
    ) -> None:
        super().__init__(
            self.POLICY_NAME,
            {
                "evaluation_interval": evaluation_interval,
                "delay_evaluation": delay_evaluation,
                "truncation_percentage": truncation_percentage,
                "exclude_finished_jobs": bool(exclude_finished_jobs),
            },
        )

    @property
    def truncation_percentage(self) -> int:
        return int(self._properties["truncation_percentage"])


class AshaPolicy(EarlyTerminationPolicy):
    """Asynchronous successive halving, which SDK v1 has not: after `min_intervals` logs, and after each further
    `reduction_factor` times as many, only the best of `reduction_factor` go on."""

    POLICY_NAME = contract.ASHA

    def __init__(self, min_intervals: int = 1, reduction_factor: int = 3) -> None:
        given = {"min_intervals": min_intervals, "reduction_factor": reduction_factor}
        super().__init__(self.POLICY_NAME, given)
