import inspect
from typing import Any

import pytest

from runyard.contracts.compute import Target
from runyard.contracts.engines import BUILT_IN
from runyard.sdk.compute.cluster import RayCompute, SlurmCompute
from runyard.sdk.exceptions import ComputeTargetException


def test_a_ray_cluster() -> None:
    configuration = RayCompute.attach_configuration(address="10.0.0.1:6379", vm_size="STANDARD_NC6", max_nodes=3)
    assert configuration._target("yard") == Target(
        "yard", "ray", "Ray", vm_size="STANDARD_NC6", max_nodes=3, options={"address": "10.0.0.1:6379"}
    )


def test_a_slurm_cluster() -> None:
    configuration = SlurmCompute.attach_configuration(
        partition="gpu",
        account="physics",
        qos="high",
        constraint="a100",
        gres="gpu:2",
        commands="/opt/slurm/bin",
        python="/opt/python/bin/python3",
        max_nodes=8,
        vm_priority="lowpriority",
        tags={"a": "b"},
    )
    target = configuration._target("hpc")
    assert (target.engine, target.type, target.vm_priority, target.max_nodes) == ("slurm", "Slurm", "lowpriority", 8)
    assert target.options == {
        "partition": "gpu",
        "account": "physics",
        "qos": "high",
        "constraint": "a100",
        "gres": "gpu:2",
        "commands": "/opt/slurm/bin",
        "python": "/opt/python/bin/python3",
    }
    assert target.details == {"tags": {"a": "b"}}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"commands": "bin"}, "give the whole path"),
        ({"partition": "a\nb"}, "in one line"),
        ({"vm_priority": "cheap"}, "lowpriority"),
        ({"max_nodes": -1}, "max_nodes"),
    ],
)
def test_what_no_cluster_understands(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ComputeTargetException, match=message):
        SlurmCompute.attach_configuration(**settings)


@pytest.mark.parametrize("kind", [RayCompute, SlurmCompute])
def test_all_options_of_an_engine_can_be_given(kind: "type[RayCompute | SlurmCompute]") -> None:
    parameters = inspect.signature(kind.attach_configuration).parameters
    assert {option.name for option in BUILT_IN[kind._engine].options} <= set(parameters)


def test_a_ray_cluster_needs_an_address() -> None:
    with pytest.raises(ComputeTargetException, match="needs the option address"):
        RayCompute.attach_configuration(address="")
