"""Bayesian sampling by Optuna's tree-structured Parzen estimator. Its study is made anew from the history for each
trial, so nothing of it has to be stored."""

from __future__ import annotations

import copy
import hashlib
import importlib
import json
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from runyard.contracts.sweeps import space as spaces
from runyard.contracts.sweeps.space import Expression, Space
from runyard.contracts.sweeps.sweep import SEED
from runyard.scheduler.sweeps.samplers.sampler import Sampler
from runyard.scheduler.sweeps.trials import Parameters, Trial

MOST_HISTORY = 1_000
"""Trials that are taken into account, the latest ones: each costs a little of every later one."""


MOST_CATEGORIES = 500
"""Options that are compared one by one. Of more than these, those that lie beside each other count as alike: Optuna's
tables have a column per option and a row per trial."""


class Bayesian(Sampler):
    """Trials under way count as bad ones, so that others beside them look elsewhere."""

    def __init__(self, space: Space, properties: dict[str, Any], maximizes: bool) -> None:
        super().__init__(space, properties, maximizes)
        self._positions = {
            name: {_written(option): position for position, option in enumerate(expression.options)}
            for name, expression in space.items()
            if expression.name == spaces.CHOICE
        }
        self._distributions: dict[str, Any] = {}  # as Optuna has them
        self._ended: dict[tuple[str, float | None], Any] = {}  # trials as Optuna has them, by their runs and values

    def sample(self, number: int, history: Sequence[Trial]) -> Parameters | None:
        optuna = _optuna()
        seed = int.from_bytes(hashlib.sha256(f"{self.properties.get(SEED, 0)}:{number}".encode()).digest()[:4], "big")
        sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True, multivariate=True, group=False)
        study = optuna.create_study(sampler=sampler, direction="maximize" if self.maximizes else "minimize")
        if not self._distributions:
            self._distributions = {name: _distribution(optuna, each) for name, each in self.space.items()}
        for trial in history[-MOST_HISTORY:]:
            known = self._known(optuna, trial)
            if known is not None:
                study.add_trial(known)
        asked = study.ask(self._distributions).params
        return {name: _value(expression, asked[name]) for name, expression in self.space.items()}

    def _known(self, optuna: Any, trial: Trial) -> Any:
        """A trial as Optuna has it; None when it tells nothing: it failed early, or was sampled from another space."""
        key = (trial.run_id, trial.best)
        known = self._ended.get(key) if trial.ended else None
        if known is None:
            known = self._as_known(optuna, trial)
            if known is not None and trial.ended:
                self._ended[key] = _shared(known)
        return known

    def _as_known(self, optuna: Any, trial: Trial) -> Any:
        params = {}
        for name, expression in self.space.items():
            if name not in trial.parameters:
                return None
            params[name] = self._position(name, expression, trial.parameters[name])
            if params[name] is None:
                return None
        states = optuna.trial.TrialState
        best = trial.best
        if best is None or not math.isfinite(best):
            if trial.ended:
                return None
            return optuna.trial.create_trial(state=states.RUNNING, params=params, distributions=self._distributions)
        return optuna.trial.create_trial(
            state=states.COMPLETE, value=best, params=params, distributions=self._distributions
        )

    def _position(self, name: str, expression: Expression, value: Any) -> Any:
        """The inverse of `_value`; None for a value that the space does not have."""
        if expression.name == spaces.CHOICE:
            return self._positions[name].get(_written(value))
        low, high = float(expression.arguments[0]), float(expression.arguments[1])
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            return None
        return int(value // (expression.step or 1.0)) if expression.name == spaces.QUNIFORM else float(value)


def _shared(known: Any) -> Any:
    """A trial of which every study has but a number of its own: copied whole, as studies do, they are most of what a
    sample costs."""
    known.__deepcopy__ = lambda memo: copy.copy(known)
    return known


def _distribution(optuna: Any, expression: Expression) -> Any:
    """Options are known to Optuna by their position: it takes no lists."""
    if expression.name == spaces.CHOICE:
        if len(expression.options) > MOST_CATEGORIES:
            return optuna.distributions.IntDistribution(0, len(expression.options) - 1)
        return optuna.distributions.CategoricalDistribution(tuple(range(len(expression.options))))
    low, high = float(expression.arguments[0]), float(expression.arguments[1])
    if expression.name == spaces.QUNIFORM:
        step = int(expression.step or 1)
        return optuna.distributions.IntDistribution(
            math.ceil(low / step), max(math.ceil(low / step), int(high // step))
        )
    return optuna.distributions.FloatDistribution(low, high)


def _value(expression: Expression, drawn: Any) -> Any:
    if expression.name == spaces.CHOICE:
        return expression.options[drawn]
    return drawn * (expression.step or 1.0) if expression.name == spaces.QUNIFORM else drawn


def _written(option: Any) -> str:
    return json.dumps(option, sort_keys=True)


@cache
def _optuna() -> Any:
    """Loaded with the first sweep that needs it: half a second, which no start of a server is to wait for."""
    optuna = importlib.import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    import warnings

    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna
