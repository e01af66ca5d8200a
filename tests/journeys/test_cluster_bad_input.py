"""Clusters that are attached wrongly are refused with what to do, and nothing is kept of them."""

from __future__ import annotations

import pytest
from tests.journeys.conftest import Yard
from tests.support.frameworks import environment
from tests.support.slurm_cluster import SlurmCluster

from azureml.core.compute import ComputeTarget, RayCompute, SlurmCompute
from azureml.core.compute_target import ComputeTargetException


def test_a_ray_address_that_nobody_answers_on(yard: Yard) -> None:
    config = RayCompute.attach_configuration(address="127.0.0.1:9", ray_python=str(environment("ray")))
    with pytest.raises(ComputeTargetException, match=r"127\.0\.0\.1:9"):
        ComputeTarget.attach(yard.workspace, "nobody", config)
    with pytest.raises(ComputeTargetException, match="ComputeTargetNotFound"):
        ComputeTarget(yard.workspace, "nobody")


@pytest.mark.xdist_group("slurm")
def test_a_partition_that_is_not_there(yard: Yard, slurm_cluster: SlurmCluster) -> None:
    config = SlurmCompute.attach_configuration(partition="nowhere", conf=str(slurm_cluster.conf))
    with pytest.raises(ComputeTargetException, match="nowhere") as told:
        ComputeTarget.attach(yard.workspace, "hpc", config)
    assert "main" in str(told.value), "it says which there are"
    assert not ComputeTarget.list(yard.workspace)


@pytest.mark.xdist_group("slurm")
def test_what_sbatch_refuses_is_refused_before_the_first_run(yard: Yard, slurm_cluster: SlurmCluster) -> None:
    config = SlurmCompute.attach_configuration(constraint="no-such-feature", conf=str(slurm_cluster.conf))
    with pytest.raises(ComputeTargetException, match=r"Invalid feature specification.*constraint"):
        ComputeTarget.attach(yard.workspace, "hpc", config)
    assert not ComputeTarget.list(yard.workspace)
