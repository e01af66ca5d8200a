"""The distribution of a run configuration: what a user writes becomes the nodes and processes that are started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runyard.contracts.distribution import Distribution
from runyard.sdk.exceptions import RunConfigurationException, UserErrorException
from runyard.sdk.submit.distributed import (
    MpiConfiguration,
    PlainConfiguration,
    PyTorchConfiguration,
    TensorflowConfiguration,
)
from runyard.sdk.submit.distribution import distribution_of
from runyard.sdk.submit.runconfig import RunConfiguration
from runyard.sdk.submit.script_run_config import ScriptRunConfig, get_run_config_from_script_run


def of_job(job: Any) -> Distribution:
    config = ScriptRunConfig(".", "train.py", distributed_job_config=job)
    return distribution_of(get_run_config_from_script_run(config))


@pytest.mark.parametrize(
    ("job", "wanted"),
    [
        (MpiConfiguration(node_count=2), Distribution("mpi", 2, 2)),
        (MpiConfiguration(process_count_per_node=2, node_count=2), Distribution("mpi", 2, 4)),
        (MpiConfiguration(), Distribution("mpi", 1, 1)),
        (PyTorchConfiguration("Nccl", node_count=2), Distribution("pytorch", 2, 0, "nccl")),
        (PyTorchConfiguration("Gloo", 4, 2), Distribution("pytorch", 2, 4, "gloo")),
        (TensorflowConfiguration(2, 0), Distribution("tensorflow", 2, workers=2)),
        (TensorflowConfiguration(3, 2), Distribution("tensorflow", 3, workers=3, parameter_servers=2)),
        (TensorflowConfiguration(), Distribution("tensorflow", 1, workers=1, parameter_servers=1)),
        (PlainConfiguration(2, 3), Distribution("plain", 3, 6)),
        (PlainConfiguration(), Distribution("plain", 1, 1)),
    ],
)
def test_distributed_job_configurations(job: Any, wanted: Distribution) -> None:
    assert of_job(job) == wanted


def test_a_run_of_one_process() -> None:
    assert distribution_of(RunConfiguration("a.py")) == Distribution()


def test_nodes_without_a_framework_have_one_process_each() -> None:
    run_config = RunConfiguration("a.py")
    run_config.node_count = 3
    assert distribution_of(run_config) == Distribution("plain", 3)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "framework: Python\ncommunicator: OpenMpi\nnodeCount: 2\nmpi:\n  processCountPerNode: 2\n",
            Distribution("mpi", 2, 4),
        ),
        ("communicator: IntelMpi\nmpi:\n  processCountPerNode: 2\n  nodeCount: 3\n", Distribution("mpi", 3, 6)),
        ("communicator: mpi\nnode_count: 2\n", Distribution("mpi", 2, 2)),
        (
            "framework: PyTorch\ncommunicator: Nccl\nnodeCount: 2\npytorch:\n  processCount: 4\n",
            Distribution("pytorch", 2, 4, "nccl"),
        ),
        ("communicator: Gloo\nnodeCount: 2\n", Distribution("pytorch", 2, 0, "gloo")),
        (
            "framework: TensorFlow\ncommunicator: ParameterServer\ntensorflow:\n  workerCount: 2\n"
            "  parameterServerCount: 1\n",
            Distribution("tensorflow", 2, workers=2, parameter_servers=1),
        ),
        ("communicator: None\nnodeCount: 2\n", Distribution("plain", 2)),
        ("nodeCount: 2\nrunyard:\n  processCountPerNode: 2\n", Distribution("plain", 2, 4)),
    ],
)
def test_run_configurations_in_files(tmp_path: Path, text: str, wanted: Distribution) -> None:
    (tmp_path / "train.runconfig").write_text(f"script: train.py\n{text}")
    assert distribution_of(RunConfiguration.load(tmp_path, "train")) == wanted


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (MpiConfiguration(node_count=0), "1 to 10000 nodes, not 0. Set node_count"),
        (MpiConfiguration(process_count_per_node=0), "process_count_per_node must be 1 or more, not 0"),
        (MpiConfiguration(node_count="2"), "node_count must be a whole number, not '2'"),  # type: ignore[arg-type]
        (MpiConfiguration(node_count=True), "node_count must be a whole number, not True"),
        (PyTorchConfiguration("gloo", 3, 2), "3 processes cannot be spread evenly over 2 nodes.*use 4"),
        (PyTorchConfiguration("gloo", 0, 1), "Leave it out to start one process per node"),
        (PyTorchConfiguration("gloo", 2, 0), "nodes, not 0"),
        (TensorflowConfiguration(0, 1), "not 0"),
        (TensorflowConfiguration(1, -1), "-1 parameter servers"),
        (PlainConfiguration(-1, 2), "process_count_per_node must be 1 or more, not -1"),
    ],
)
def test_what_cannot_be_run_is_refused(job: Any, message: str) -> None:
    with pytest.raises(UserErrorException, match=message):
        of_job(job)


def test_a_world_that_is_told_in_two_ways() -> None:
    run_config = ScriptRunConfig(".", "a.py", distributed_job_config=MpiConfiguration(node_count=2)).run_config
    run_config.mpi.node_count = 3
    with pytest.raises(UserErrorException, match=r"node_count=2 and mpi\.node_count=3"):
        distribution_of(run_config)
    run_config.node_count = 3
    assert distribution_of(run_config).nodes == 3


def test_tensorflow_nodes_are_its_workers() -> None:
    run_config = ScriptRunConfig(".", "a.py", distributed_job_config=TensorflowConfiguration(2, 0)).run_config
    run_config.node_count = 3
    with pytest.raises(UserErrorException, match="2 workers do not fit 3 nodes"):
        distribution_of(run_config)


@pytest.mark.parametrize(
    ("communicator", "message"), [("Smoke", "OpenMpi, IntelMpi"), ("ParallelTask", "parallel tasks")]
)
def test_other_communicators(communicator: str, message: str) -> None:
    with pytest.raises(RunConfigurationException, match=message):
        distribution_of(RunConfiguration("a.py", communicator=communicator))


def test_an_unknown_backend() -> None:
    with pytest.raises(RunConfigurationException, match="nccl, gloo"):
        of_job(PyTorchConfiguration("mpi"))
