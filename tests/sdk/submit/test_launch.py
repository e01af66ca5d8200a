"""What is sent of a run configuration: its distribution, and what a run beside its submitter takes along."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from runyard.contracts.compute import LOCAL_ENGINE, RAY, SLURM
from runyard.contracts.distribution import Distribution
from runyard.contracts.plan import Launch
from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
from runyard.sdk.environment.environment import Environment
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.submit.distributed import MpiConfiguration
from runyard.sdk.submit.launch import environment_property, launch_of, refuse_on_demand
from runyard.sdk.submit.runconfig import RunConfiguration
from runyard.sdk.submit.script_run_config import ScriptRunConfig, get_run_config_from_script_run


def test_a_gang_is_sent_with_its_launch() -> None:
    config = ScriptRunConfig(".", "train.py", distributed_job_config=MpiConfiguration(2, 2))
    sent = Launch.from_dict(launch_of(get_run_config_from_script_run(config), LOCAL_ENGINE))
    assert Distribution.from_dict(sent.distribution) == Distribution("mpi", 2, 4)
    assert sent.restarts == 3


def test_a_plain_run_says_nothing_of_nodes() -> None:
    assert launch_of(RunConfiguration("train.py"), LOCAL_ENGINE)["distribution"] == {}


def test_restarts() -> None:
    run_config = RunConfiguration("train.py")
    run_config.runyard.restarts = 0
    assert launch_of(run_config, LOCAL_ENGINE)["restarts"] == 0
    run_config.runyard.restarts = -1
    with pytest.raises(UserErrorException, match=r"runyard\.restarts must be a whole number from 0 on, not -1"):
        launch_of(run_config, LOCAL_ENGINE)


def test_every_target_of_this_machine_takes_the_shell_along() -> None:
    run_config = RunConfiguration("train.py")
    run_config.target = "gpu-cluster"
    sent = launch_of(run_config, LOCAL_ENGINE)
    assert sent["shell"]["PATH"] == os.environ["PATH"]
    assert sent["interpreter"] == sys.executable
    assert environment_property(run_config, LOCAL_ENGINE) == f"current interpreter: {sys.executable}"


@pytest.mark.parametrize("engine", [RAY, SLURM, ""])
def test_a_cluster_gets_no_variables_of_this_machine(engine: str) -> None:
    sent = launch_of(RunConfiguration("train.py"), engine)
    assert sent["shell"] == {}
    assert sent["interpreter"] == sys.executable  # where the disk is shared it is there
    assert not sent["environment"].get("interpreter")  # and nobody has chosen it: a node may take its own


def test_an_interpreter_that_only_the_cluster_has() -> None:
    run_config = RunConfiguration("train.py")
    run_config.environment = Environment("mine")
    run_config.environment.python.user_managed_dependencies = True
    run_config.environment.python.interpreter_path = "/cluster/only/python"
    assert launch_of(run_config, SLURM)["interpreter"] == "/cluster/only/python"
    with pytest.raises(UserErrorException, match="There is no Python at '/cluster/only/python'"):
        launch_of(run_config, LOCAL_ENGINE)


@pytest.mark.parametrize("name", ["amlcompute", "AmlCompute", "containerinstance"])
def test_no_machine_is_made_for_one_run(name: str) -> None:
    run_config = RunConfiguration("train.py")
    run_config.target = name
    run_config.amlcompute.vm_size = "STANDARD_D2_V2"
    with pytest.raises(UserErrorException, match=r"made for this run alone.*ComputeTarget\.create.*'STANDARD_D2_V2'"):
        refuse_on_demand(run_config)


def test_an_input_becomes_the_variable_with_its_path(tmp_path: Path) -> None:
    images = DatasetConsumptionConfig("images", ("ws", "birds"), "mount")
    run_config = get_run_config_from_script_run(ScriptRunConfig(".", "train.py", ["--data", images]))
    assert run_config.arguments == ["--data", "DatasetConsumptionConfig:images"]
    given = {"name": "images", "dataset": "1", "mode": "mount", "path_on_compute": None}
    launch = launch_of(run_config, LOCAL_ENGINE, [given])
    assert launch["arguments"] == ["--data", "$AZUREML_DATAREFERENCE_images"]
    assert launch["inputs"] == [given]
