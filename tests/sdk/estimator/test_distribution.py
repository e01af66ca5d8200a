from typing import Any

import pytest

from runyard.contracts.distribution import Distribution
from runyard.sdk.estimator.distribution import (
    Gloo,
    Job,
    Mpi,
    Nccl,
    ParameterServer,
    checked_job,
    distribute,
    job_of_backend,
)
from runyard.sdk.exceptions import TrainingException
from runyard.sdk.submit.distributed import MpiConfiguration, PyTorchConfiguration, TensorflowConfiguration
from runyard.sdk.submit.distribution import distribution_of
from runyard.sdk.submit.runconfig import RunConfiguration


def distributed(job: "Job | None", nodes: int = 1, processes: int = 1) -> RunConfiguration:
    config = RunConfiguration("train.py")
    distribute(config, job, nodes, processes)
    return config


@pytest.mark.parametrize(
    ("job", "framework", "communicator", "expected"),
    [
        (Mpi(2), "python", "Mpi", Distribution("mpi", 2, 4)),
        (MpiConfiguration(), "Python", "IntelMpi", Distribution("mpi", 2, 2)),
        (MpiConfiguration(2, 2), "Python", "IntelMpi", Distribution("mpi", 2, 4)),
        (Nccl(), "pytorch", "Nccl", Distribution("pytorch", 2, 0, "nccl")),
        (Gloo(), "pytorch", "Gloo", Distribution("pytorch", 2, 0, "gloo")),
        (PyTorchConfiguration("Gloo", 4), "PyTorch", "gloo", Distribution("pytorch", 2, 4, "gloo")),
        (
            ParameterServer(2, 1),
            "tensorflow",
            "ParameterServer",
            Distribution("tensorflow", 2, workers=2, parameter_servers=1),
        ),
        (TensorflowConfiguration(2, 0), "TensorFlow", "ParameterServer", Distribution("tensorflow", 2, workers=2)),
    ],
    ids=lambda value: repr(value) if isinstance(value, str) else type(value).__name__,
)
def test_what_a_job_becomes_on_two_nodes(job: Job, framework: str, communicator: str, expected: Distribution) -> None:
    config = distributed(job, nodes=2)
    assert (config.framework, config.communicator) == (framework, communicator)
    assert config.node_count == 2
    assert distribution_of(config) == expected


def test_nobody_sets_the_nodes_of_a_tensorflow_job_twice() -> None:
    assert distribution_of(distributed(ParameterServer(3))).nodes == 3


def test_torch_processes_per_node() -> None:
    assert distribution_of(distributed(Gloo(), 2, 3)) == Distribution("pytorch", 2, 6, "gloo")


def test_counts_that_are_told_twice_agree_or_are_refused() -> None:
    assert distribution_of(distributed(Mpi(), 2, 4)).processes == 8
    assert distribution_of(distributed(MpiConfiguration(node_count=3))).nodes == 3
    with pytest.raises(TrainingException, match="node_count=2 and its distributed_training has node_count=3"):
        distributed(MpiConfiguration(node_count=3), nodes=2)
    with pytest.raises(TrainingException, match=r"process_count_per_node=2 and .* process_count_per_node=4"):
        distributed(Mpi(4), processes=2)


@pytest.mark.parametrize(("nodes", "processes"), [(2, 1), (1, 2)])
def test_many_processes_need_a_job(nodes: int, processes: int) -> None:
    with pytest.raises(TrainingException, match="Give distributed_training"):
        distributed(None, nodes, processes)


def test_one_process_needs_none() -> None:
    assert distribution_of(distributed(None)) == Distribution()


def test_one_tensorflow_worker_per_node() -> None:
    with pytest.raises(TrainingException, match="one worker per node"):
        distributed(ParameterServer(2), 2, 2)


@pytest.mark.parametrize(
    ("backend", "expected"),
    [("mpi", "Mpi(process_count_per_node=3)"), ("Nccl", "Nccl()"), ("GLOO", "Gloo()")],
)
def test_the_older_words(backend: str, expected: str) -> None:
    assert repr(job_of_backend(backend, ("mpi", "nccl", "gloo"), 3, 1, 1)) == expected


def test_the_older_word_for_parameter_servers() -> None:
    job = job_of_backend("ps", ("ps",), 1, 2, 3)
    assert isinstance(job, ParameterServer)
    assert (job.worker_count, job.parameter_server_count) == (2, 3)


def test_a_word_of_another_framework_is_refused() -> None:
    with pytest.raises(TrainingException, match="'ps' is no distributed_backend of this estimator"):
        job_of_backend("ps", ("mpi",), 1, 1, 1)


@pytest.mark.parametrize("job", [Gloo(), "mpi", Mpi, PyTorchConfiguration("smoke")])
def test_what_is_no_job_of_the_estimator_is_refused(job: Any) -> None:
    with pytest.raises(TrainingException, match="Mpi, MpiConfiguration, ParameterServer"):
        checked_job(job, ("mpi", "ps"))


@pytest.mark.parametrize("job", [Mpi(0), ParameterServer(0), ParameterServer(1, -1), Mpi("two")])  # type: ignore[arg-type]
def test_counts_are_checked(job: "Mpi | ParameterServer") -> None:
    with pytest.raises(TrainingException, match="must be a whole number"):
        job.validate()
