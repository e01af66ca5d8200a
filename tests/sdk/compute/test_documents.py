from typing import Any, cast

import pytest

from runyard.contracts.compute import Status, Target
from runyard.contracts.documents import ComputeDocument
from runyard.sdk.compute.documents import document_of, duration, seconds, sent, serialized
from runyard.sdk.exceptions import ComputeTargetException


def document(**settings: Any) -> ComputeDocument:
    target = Target(**{"name": "c", "max_nodes": 4, "created_at": "then", **settings}).as_dict()
    return cast("ComputeDocument", {**target, "status": Status().as_dict(), "provisioning_state": "Succeeded"})


def test_times_are_the_servers_to_say() -> None:
    assert set(sent(Target("c"))).isdisjoint({"created_at", "modified_at"})


@pytest.mark.parametrize(
    "found",
    [
        document(),
        document(engine="slurm", type="Slurm", max_nodes=None, options={"partition": "gpu"}),
        document(details={"tags": {"a": "b"}, "description": "d", "vnet_name": "v"}, idle_seconds=90, min_nodes=1),
    ],
)
def test_round_trip(found: ComputeDocument) -> None:
    assert document_of(serialized(found, "/id", "local")) == found


def test_what_another_sdk_wrote() -> None:
    found = document_of({"name": "c", "properties": {"computeType": "AmlCompute", "properties": {"vmSize": "X"}}})
    assert (found["name"], found["vm_size"], found["engine"], found["idle_seconds"]) == ("c", "X", "local", 1800)
    assert found["status"]["counts"]["idle"] == 0


@pytest.mark.parametrize("found", [{}, {"name": "c"}, {"name": "c", "properties": {}}, {"name": "c", "properties": 3}])
def test_what_is_no_target(found: Any) -> None:
    with pytest.raises(ComputeTargetException, match="no compute target as serialize"):
        document_of(found)


def test_time_spans() -> None:
    assert seconds(duration(120)) == 120
    assert (seconds("PT2M"), seconds("P1D"), seconds("PT1H30M"), seconds(None), seconds(5)) == (
        120,
        86400,
        5400,
        1800,
        5,
    )
    for wrong in ("", "PT", "P", "30 minutes"):
        with pytest.raises(ComputeTargetException, match="no time span"):
            seconds(wrong)
