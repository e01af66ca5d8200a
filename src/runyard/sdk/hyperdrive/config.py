"""`HyperDriveConfig`: a sweep as it is submitted."""

from __future__ import annotations

import warnings
from enum import Enum
from typing import TYPE_CHECKING, Any, Sequence

from runyard.contracts.sweeps import sweep as contract
from runyard.contracts.sweeps.space import BadSpace, bare
from runyard.contracts.sweeps.sweep import Sweep
from runyard.sdk.estimator.estimator import MMLBaseEstimator
from runyard.sdk.exceptions import HyperDriveConfigException, HyperDriveScenarioNotSupportedException
from runyard.sdk.hyperdrive.policy import EarlyTerminationPolicy, NoTerminationPolicy
from runyard.sdk.hyperdrive.sampling import BayesianParameterSampling, HyperParameterSampling
from runyard.sdk.run.run import Run
from runyard.sdk.submit.script_run_config import ScriptRunConfig

if TYPE_CHECKING:
    from runyard.sdk.hyperdrive.run import HyperDriveRun

BAYESIAN_RUNS = 20
"""SDK v1 advises so many runs per parameter, and so many at once at most."""


class PrimaryMetricGoal(Enum):
    """Whether the primary metric is to be as large or as small as can be."""

    MAXIMIZE = "MAXIMIZE"
    MINIMIZE = "MINIMIZE"

    @staticmethod
    def from_str(goal: str) -> PrimaryMetricGoal:
        """The goal of that name, in capitals or not.

        >>> PrimaryMetricGoal.from_str("maximize")
        <PrimaryMetricGoal.MAXIMIZE: 'MAXIMIZE'>
        """
        try:
            return PrimaryMetricGoal[str(goal).upper()]
        except KeyError:
            raise HyperDriveConfigException(f"The goal is 'maximize' or 'minimize', not {goal!r}.") from None


class HyperDriveConfig:
    """A sweep: what to run, what to sample, what to compare, when to stop a child, and how much to spend."""

    def __init__(
        self,
        hyperparameter_sampling: HyperParameterSampling,
        primary_metric_name: str,
        primary_metric_goal: PrimaryMetricGoal,
        max_total_runs: int,
        max_concurrent_runs: int | None = None,
        max_duration_minutes: int | None = contract.LONGEST_MINUTES,
        policy: EarlyTerminationPolicy | None = None,
        estimator: MMLBaseEstimator | None = None,
        run_config: ScriptRunConfig | None = None,
        resume_from: HyperDriveRun | Sequence[HyperDriveRun] | None = None,
        resume_child_runs: Run | Sequence[Run] | None = None,
        pipeline: Any = None,
        debug_flag: Any = None,
        custom_run_id: str | None = None,
    ) -> None:
        _check_classes(hyperparameter_sampling, primary_metric_goal, policy)
        _check_what_runs(estimator, run_config, pipeline)
        self._estimator, self._run_config = estimator, run_config
        self._sampling = hyperparameter_sampling
        self._policy = policy if policy is not None else NoTerminationPolicy()
        self._goal = primary_metric_goal
        self._custom_run_id = custom_run_id
        self._sweep = Sweep(
            sampling=hyperparameter_sampling.to_json(),
            metric=primary_metric_name,
            goal=primary_metric_goal.name.lower(),
            runs=max_total_runs,
            at_once=max_total_runs if max_concurrent_runs is None else max_concurrent_runs,
            minutes=contract.LONGEST_MINUTES if max_duration_minutes is None else max_duration_minutes,
            policy=self._policy.to_json(),
            resume_from=_ids(resume_from, "resume_from"),
            resume_children=_ids(resume_child_runs, "resume_child_runs"),
        )
        try:
            self._sweep.check()
        except BadSpace as error:
            raise HyperDriveConfigException(str(error)) from None
        self._warn()

    @property
    def estimator(self) -> MMLBaseEstimator | None:
        """The estimator that the children run; None when it is a ScriptRunConfig."""
        return self._estimator

    @property
    def run_config(self) -> Any:
        """What the children run."""
        return self._run_config if self._run_config is not None else getattr(self._estimator, "run_config", None)

    @property
    def pipeline(self) -> None:
        """Always None: Runyard has no pipelines."""
        return None

    @property
    def source_directory(self) -> str | None:
        """The folder that goes with the children."""
        holder: Any = self._run_config if self._run_config is not None else self._estimator
        return None if holder is None or holder.source_directory is None else str(holder.source_directory)

    def __repr__(self) -> str:
        sweep = self._sweep
        return (
            f"HyperDriveConfig({sweep.sampling['name']}, {sweep.goal} {sweep.metric!r}, {sweep.runs} runs, "
            f"{sweep.at_once} at once, policy {sweep.policy['name']})"
        )

    def _script(self) -> ScriptRunConfig:
        """What a child runs, without its parameters. An estimator's script_params make way for sampled ones."""
        if self._run_config is not None:
            return self._run_config
        assert self._estimator is not None
        config = self._estimator._at_submit()
        sampled = {bare(name) for name in self._sweep.space}
        both = [str(name) for name in self._estimator._options.script_params or {} if bare(str(name)) in sampled]
        for name in both:
            place = config.arguments.index(name)
            fixed = (self._estimator._options.script_params or {})[name]
            del config.arguments[place : place + (1 if fixed is None or fixed == "" else 2)]
        if both:
            warnings.warn(f"{', '.join(both)}: sampled, so the values in script_params are not used.", stacklevel=2)
        return config

    def _warn(self) -> None:
        sweep = self._sweep
        if sweep.minutes > contract.LONGEST_MINUTES:
            warnings.warn(
                f"max_duration_minutes is {sweep.minutes}; SDK v1's service ended sweeps after "
                f"{contract.LONGEST_MINUTES} minutes. Runyard does as it is told.",
                stacklevel=3,
            )
        if isinstance(self._sampling, BayesianParameterSampling):
            advised = BAYESIAN_RUNS * len(sweep.space)
            if sweep.runs < advised:
                warnings.warn(f"Bayesian sampling is worth its while from {advised} runs on.", stacklevel=3)
            if sweep.at_once > BAYESIAN_RUNS:
                warnings.warn("Bayesian sampling learns less the more children run at once.", stacklevel=3)
        fixed = [str(each) for each in getattr(self._run_config, "arguments", None) or ()]
        sampled = {bare(name) for name in sweep.space}
        both = [each for each in fixed if each.startswith("-") and bare(each.partition("=")[0]) in sampled]
        if both:
            warnings.warn(
                f"{', '.join(both)}: among the arguments and sampled too. The script gets it twice, the sampled value "
                "last, which is the one that argparse takes.",
                stacklevel=3,
            )


class HyperDriveRunConfig(HyperDriveConfig):
    """The former name of HyperDriveConfig."""


def _check_classes(sampling: object, goal: object, policy: object) -> None:
    if not isinstance(sampling, HyperParameterSampling):
        raise HyperDriveConfigException(
            f"hyperparameter_sampling must be a sampling such as RandomParameterSampling({{...}}), not {sampling!r}."
        )
    if not isinstance(goal, PrimaryMetricGoal):
        raise HyperDriveConfigException(f"primary_metric_goal must be a PrimaryMetricGoal, not {goal!r}.")
    if policy is not None and not isinstance(policy, EarlyTerminationPolicy):
        raise HyperDriveConfigException(f"policy must be one such as BanditPolicy(...), not {policy!r}.")


def _check_what_runs(estimator: object, run_config: object, pipeline: object) -> None:
    if pipeline is not None:
        raise HyperDriveScenarioNotSupportedException(
            "Runyard has no pipelines, so a sweep cannot run one. Sweep a ScriptRunConfig: run_config=..."
        )
    if (estimator is None) == (run_config is None):
        given = "neither was" if estimator is None else "both were"
        raise HyperDriveConfigException(f"A sweep needs either run_config or estimator, and {given} given.")
    if run_config is not None and not isinstance(run_config, ScriptRunConfig):
        raise HyperDriveConfigException(
            f"run_config must be a ScriptRunConfig, not a {type(run_config).__name__}: "
            "ScriptRunConfig('.', script='train.py', run_config=...)."
        )
    if estimator is not None and not isinstance(estimator, MMLBaseEstimator):
        raise HyperDriveConfigException(f"estimator must be an Estimator, not a {type(estimator).__name__}.")


def _ids(runs: Any, what: str) -> list[str]:
    if runs is None:
        return []
    some = list(runs) if isinstance(runs, (list, tuple)) else [runs]
    for each in some:
        if not isinstance(each, Run):
            raise HyperDriveConfigException(f"{what} takes runs, not {each!r}.")
    return [each.id for each in some]
