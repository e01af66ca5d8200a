"""Samplings: how the parameters of the children of a sweep are chosen."""

from __future__ import annotations

import copy
from typing import Any, Mapping, Sequence

from runyard.contracts.sweeps import sweep as contract
from runyard.contracts.sweeps.space import BadSpace
from runyard.sdk.exceptions import HyperDriveConfigException


class HyperParameterSampling:
    """A sampling by its name: RANDOM, GRID, BayesianOptimization, or `module:Class` of a sampler of your own."""

    def __init__(
        self,
        sampling_method_name: str,
        parameter_space: Mapping[str, Any],
        properties: Mapping[str, Any] | None = None,
        supported_distributions: Sequence[str] | None = None,
        distributions_validators: Mapping[str, Any] | None = None,
    ) -> None:
        self._name = sampling_method_name
        self._parameter_space = copy.deepcopy(dict(parameter_space)) if isinstance(parameter_space, Mapping) else {}
        self._properties = dict(properties or {})
        try:
            contract.check_sampling(self.to_json())
        except BadSpace as error:
            raise HyperDriveConfigException(str(error)) from None
        for parameter, (name, arguments) in self._parameter_space.items():
            if supported_distributions is not None and name not in supported_distributions:
                raise HyperDriveConfigException(
                    f"{parameter!r} is {name}; this sampling takes {', '.join(sorted(supported_distributions))}."
                )
            if distributions_validators and name in distributions_validators:
                distributions_validators[name](arguments)

    def to_json(self) -> dict[str, Any]:
        """The sampling as it is stored."""
        document: dict[str, Any] = {"name": self._name, "parameter_space": self._parameter_space}
        return {**document, "properties": self._properties} if self._properties else document

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._parameter_space!r})"


class RandomParameterSampling(HyperParameterSampling):
    """Each child by itself, at random. `properties={"seed": 7}` makes the values the same each time;
    `{"rule": "sobol"}` spreads them evenly.

    >>> from runyard.sdk.hyperdrive.expressions import uniform
    >>> RandomParameterSampling({"--lr": uniform(0, 1)}, {"seed": 7}).to_json()["properties"]
    {'seed': 7}
    """

    SAMPLING_NAME = contract.RANDOM

    def __init__(self, parameter_space: Mapping[str, Any], properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(self.SAMPLING_NAME, parameter_space, properties)


class GridParameterSampling(HyperParameterSampling):
    """Every combination once. Takes `choice` alone."""

    SAMPLING_NAME = contract.GRID

    def __init__(self, parameter_space: Mapping[str, Any], properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(self.SAMPLING_NAME, parameter_space, properties)


class BayesianParameterSampling(HyperParameterSampling):
    """Guided by what earlier children have come to. Takes `choice`, `uniform` and `quniform`."""

    SAMPLING_NAME = contract.BAYESIAN

    def __init__(self, parameter_space: Mapping[str, Any], properties: Mapping[str, Any] | None = None) -> None:
        super().__init__(self.SAMPLING_NAME, parameter_space, properties)
