"""A sweep as it is sent and stored: what to sample, what to compare, when to stop a child, and how much to spend.

sampling   {"name": "RANDOM", "parameter_space": {...}, "properties": {...}}     SDK v1's `to_json` of a sampling
policy     {"name": "Bandit", "properties": {...}}                               and of a policy
metric     the name of the primary metric; goal is "maximize" or "minimize"
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any, Mapping

from runyard.contracts.sweeps import space as spaces
from runyard.contracts.sweeps.space import BadSpace as BadSpace
from runyard.contracts.sweeps.space import Expression

RUN_TYPE = "hyperdrive"
RANDOM, GRID, BAYESIAN = "RANDOM", "GRID", "BayesianOptimization"
SAMPLINGS = (RANDOM, GRID, BAYESIAN)
NO_POLICY, BANDIT, MEDIAN, TRUNCATION, ASHA = "Default", "Bandit", "MedianStopping", "TruncationSelection", "ASHA"
POLICIES = (NO_POLICY, BANDIT, MEDIAN, TRUNCATION, ASHA)
_WHEN = ("evaluation_interval", "delay_evaluation")
TAKEN = {
    NO_POLICY: _WHEN,
    BANDIT: (*_WHEN, "slack_factor", "slack_amount"),
    MEDIAN: _WHEN,
    TRUNCATION: (*_WHEN, "truncation_percentage", "exclude_finished_jobs"),
    ASHA: ("min_intervals", "reduction_factor"),
}
"""The properties of policies: one that is misspelled is refused, or it would have no effect."""
MAXIMIZE, MINIMIZE = "maximize", "minimize"
SEED, RULE, SOBOL = "seed", "rule", "sobol"

MOST_RUNS = 100_000
LONGEST_MINUTES = 10_080
MOST_PARENTS = 5
LARGEST_QUANTITY = 100_000
"""Points of a quniform that Bayesian sampling takes."""

OWN = re.compile(r"[A-Za-z_][\w.]{0,200}:[A-Za-z_]\w{0,100}", re.ASCII)
"""A sampling or a policy of the user's own: `module:Class`."""

PARAMETERS_TAG = "hyperparameters"
"""The tag of a child that has its parameters, as JSON text."""
RUNS_TAG = "max_total_jobs"
"""Behind `SYSTEM_TAG`: how many children a sweep may have."""
SYSTEM_TAG = "_aml_system_"
"""How the tags of a parent begin in which SDK v1 stores the settings and the parameters of the children."""
BEST_TABLE = "best_child_by_primary_metric"


class BadSweep(BadSpace):
    """Why something is no sweep."""


@dataclass(frozen=True)
class Sweep:
    """All that a sweep was asked to do."""

    sampling: dict[str, Any]
    metric: str
    goal: str
    runs: int
    at_once: int
    minutes: int = LONGEST_MINUTES
    policy: dict[str, Any] = field(default_factory=lambda: {"name": NO_POLICY})
    resume_from: list[str] = field(default_factory=list)
    resume_children: list[str] = field(default_factory=list)
    resume_parameters: list[dict[str, Any]] = field(default_factory=list)  # of `resume_children`; the server's

    @property
    def maximizes(self) -> bool:
        return self.goal == MAXIMIZE

    @property
    def space(self) -> dict[str, Expression]:
        return spaces.parse(self.sampling.get("parameter_space"))

    @property
    def properties(self) -> dict[str, Any]:
        """Those of the sampling."""
        return dict(self.sampling.get("properties") or {})

    @property
    def policy_properties(self) -> dict[str, Any]:
        return dict(self.policy.get("properties") or {})

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def as_request(self) -> dict[str, Any]:
        """As a client sends it."""
        return {name: value for name, value in self.as_dict().items() if name != "resume_parameters"}

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Sweep:
        return Sweep(**{name: document[name] for name in Sweep.__dataclass_fields__ if name in document})

    def check(self) -> None:
        """BadSweep when nothing could come of it."""
        if not isinstance(self.metric, str) or not self.metric.strip() or len(self.metric) > 255:
            raise BadSweep("The primary metric has no name: name the one that the script logs.")
        if self.goal not in (MAXIMIZE, MINIMIZE):
            raise BadSweep(f"The goal is {MAXIMIZE!r} or {MINIMIZE!r}, not {self.goal!r}.")
        check_budget(self.runs, self.at_once, self.minutes)
        check_sampling(self.sampling)
        check_policy(self.policy)
        if len(self.resume_from) > MOST_PARENTS:
            raise BadSweep(f"resume_from takes {MOST_PARENTS} sweeps at most, not {len(self.resume_from)}.")
        if len(set(self.resume_children)) < len(self.resume_children):
            raise BadSweep("resume_child_runs has a run twice.")
        if len(self.resume_children) > self.runs:
            raise BadSweep(
                f"resume_child_runs has {len(self.resume_children)} runs, more than max_total_runs ({self.runs})."
            )


def check_budget(runs: object, at_once: object, minutes: object) -> None:
    for name, value, most in (
        ("max_total_runs", runs, MOST_RUNS),
        ("max_concurrent_runs", at_once, MOST_RUNS),
        ("max_duration_minutes", minutes, 1 << 40),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise BadSweep(f"{name} must be a whole number from 1 to {most}, not {value!r}.")


def check_sampling(sampling: Mapping[str, Any]) -> None:
    """BadSpace when a sampling cannot draw from its space."""
    name = sampling.get("name")
    space = spaces.parse(sampling.get("parameter_space"))
    properties = sampling.get("properties") or {}
    if not isinstance(properties, Mapping):
        raise BadSweep("The properties of a sampling are a dict, such as {'seed': 7}.")
    if not isinstance(name, str) or (name not in SAMPLINGS and not OWN.fullmatch(name)):
        raise BadSweep(
            f"There is no sampling {str(name)[:80]!r}: use {', '.join(SAMPLINGS)}, or a class of your own as "
            "'module:Class'."
        )
    seed = properties.get(SEED)
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise BadSweep(f"The seed of a sampling is a whole number, not {seed!r}.")
    rule = properties.get(RULE)
    if rule is not None and (name != RANDOM or rule not in ("random", SOBOL)):
        raise BadSweep(f"The rule of a random sampling is 'random' or 'sobol', not {rule!r}.")
    for parameter, each in space.items():
        if name == GRID and each.name != spaces.CHOICE:
            raise BadSweep(
                f"A grid takes choice() alone, and {parameter!r} is {each.name}: a range has no end of values. Use "
                "choice(...), or RandomParameterSampling."
            )
        if name == BAYESIAN:
            _check_bayesian(parameter, each)


def _check_bayesian(parameter: str, each: Expression) -> None:
    if each.name not in (spaces.CHOICE, spaces.UNIFORM, spaces.QUNIFORM):
        raise BadSweep(
            f"Bayesian sampling takes choice, uniform and quniform, and {parameter!r} is {each.name}. Use one of "
            "them, or RandomParameterSampling."
        )
    if each.name == spaces.CHOICE:
        texts = [isinstance(option, str) for option in each.options]
        if any(texts) and not all(texts):
            raise BadSweep(f"choice of {parameter!r} mixes texts and numbers, which Bayesian sampling does not take.")
    if each.name == spaces.QUNIFORM:
        if not all(isinstance(number, int) for number in each.arguments):
            raise BadSweep(f"quniform of {parameter!r} takes whole numbers in Bayesian sampling.")
        if (each.size or 0) > LARGEST_QUANTITY:
            raise BadSweep(f"quniform of {parameter!r} has more than {LARGEST_QUANTITY} values.")


def check_policy(policy: Mapping[str, Any]) -> None:
    """BadSweep when a policy cannot judge."""
    name, properties = policy.get("name"), policy.get("properties") or {}
    if not isinstance(name, str) or (name not in POLICIES and not OWN.fullmatch(name)):
        raise BadSweep(
            f"There is no policy {str(name)[:80]!r}: use {', '.join(POLICIES)}, or a class of your own as "
            "'module:Class'."
        )
    if not isinstance(properties, Mapping):
        raise BadSweep("The properties of a policy are a dict.")
    for key in properties:
        if name in TAKEN and key not in TAKEN[name]:
            raise BadSweep(f"The policy {name} takes {', '.join(TAKEN[name])}, not {str(key)[:80]!r}.")
    _check_whole(properties, "evaluation_interval", 1)
    _check_whole(properties, "delay_evaluation", 0)
    if name == BANDIT:
        _check_slack(properties)
    if name == TRUNCATION:
        _check_whole(properties, "truncation_percentage", 1, 99, required=True)
    if name == ASHA:
        _check_whole(properties, "min_intervals", 1)
        _check_whole(properties, "reduction_factor", 2)


def _check_slack(properties: Mapping[str, Any]) -> None:
    given = {key: properties[key] for key in ("slack_factor", "slack_amount") if properties.get(key) is not None}
    if len(given) > 1:
        raise BadSweep("A bandit policy takes slack_factor or slack_amount, not both.")
    if not given:
        raise BadSweep("A bandit policy needs slack_factor (a ratio, such as 0.1) or slack_amount (a distance).")
    for key, value in given.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
            raise BadSweep(f"{key} must be a number from 0 on, not {value!r}.")


def _check_whole(
    properties: Mapping[str, Any], key: str, least: int, most: int | None = None, required: bool = False
) -> None:
    value = properties.get(key)
    if value is None and not required:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        upto = f"from {least} on" if most is None else f"from {least} to {most}"
        raise BadSweep(f"{key} must be a whole number {upto}, not {value!r}.")
