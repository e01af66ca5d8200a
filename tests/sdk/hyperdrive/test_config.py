"""HyperDriveConfig: SDK v1's checks, exceptions and warnings."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from runyard.sdk.estimator.estimator import Estimator
from runyard.sdk.exceptions import HyperDriveConfigException, HyperDriveScenarioNotSupportedException
from runyard.sdk.hyperdrive.config import HyperDriveConfig, PrimaryMetricGoal
from runyard.sdk.hyperdrive.expressions import choice, uniform
from runyard.sdk.hyperdrive.sampling import BayesianParameterSampling, RandomParameterSampling
from runyard.sdk.submit.script_run_config import ScriptRunConfig

SPACE = RandomParameterSampling({"--lr": uniform(0, 1)})


def config(**given: Any) -> HyperDriveConfig:
    usual: dict[str, Any] = {
        "hyperparameter_sampling": SPACE,
        "primary_metric_name": "acc",
        "primary_metric_goal": PrimaryMetricGoal.MAXIMIZE,
        "max_total_runs": 8,
        "run_config": ScriptRunConfig(".", "train.py"),
    }
    return HyperDriveConfig(**{**usual, **given})


def test_defaults_are_those_of_sdk_v1() -> None:
    made = config()
    assert (made._sweep.at_once, made._sweep.minutes, made._sweep.policy) == (8, 10080, {"name": "Default"})
    assert (made._sweep.goal, made.source_directory, made.estimator, made.pipeline) == ("maximize", ".", None, None)
    assert config(max_duration_minutes=None)._sweep.minutes == 10080
    assert PrimaryMetricGoal.from_str("minimize") is PrimaryMetricGoal.MINIMIZE


@pytest.mark.parametrize(
    "given",
    [
        {"hyperparameter_sampling": {"--lr": uniform(0, 1)}},
        {"primary_metric_goal": "maximize"},
        {"primary_metric_name": ""},
        {"max_total_runs": 0},
        {"max_total_runs": "8"},
        {"max_concurrent_runs": 0},
        {"max_duration_minutes": -1},
        {"policy": "bandit"},
        {"run_config": None},
        {"run_config": "train.py"},
        {"estimator": "x", "run_config": None},
        {"resume_from": "HD_1"},
        {"resume_child_runs": [1]},
    ],
)
def test_faults_are_said_before_anything_is_sent(given: dict[str, Any]) -> None:
    with pytest.raises(HyperDriveConfigException):
        config(**given)


def test_pipelines_and_unknown_goals() -> None:
    with pytest.raises(HyperDriveScenarioNotSupportedException, match="no pipelines"):
        config(pipeline=object())
    with pytest.raises(HyperDriveConfigException, match="'maximize' or 'minimize'"):
        PrimaryMetricGoal.from_str("best")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"max_duration_minutes": 20000}, "20000"),
        ({"hyperparameter_sampling": BayesianParameterSampling({"a": uniform(0, 1)})}, "from 20 runs on"),
        ({"run_config": ScriptRunConfig(".", "train.py", ["--lr", 1])}, "twice"),
    ],
)
def test_warnings(given: dict[str, Any], words: str) -> None:
    with pytest.warns(UserWarning, match=words):
        config(**given)


def test_an_estimators_parameter_makes_way_for_a_sampled_one() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = Estimator(
            ".", compute_target="local", entry_script="train.py", script_params={"--lr": 0.1, "--flag": "", "--b": 2}
        )
    sampling = RandomParameterSampling({"lr": choice(1, 2), "flag": choice(1, 2)})
    made = config(estimator=estimator, run_config=None, hyperparameter_sampling=sampling)
    with pytest.warns(UserWarning, match="--lr, --flag"):
        assert made._script().arguments == ["--b", 2]
