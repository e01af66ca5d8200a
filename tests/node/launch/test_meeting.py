from __future__ import annotations

import json

import pytest

from runyard.contracts.distribution import MPI, PYTORCH, TENSORFLOW, Distribution
from runyard.node.launch.meeting import Meeting, meet, ports_wanted


def test_a_meeting_survives_the_way_to_another_node() -> None:
    meeting = Meeting(["10.0.0.1", "10.0.0.2"], ["a", "b"], 20001, {"0": 20002, "1": 20003}, "/shared")
    assert Meeting.from_dict(json.loads(json.dumps(meeting.as_dict()))) == meeting


@pytest.mark.parametrize("kind", [PYTORCH, MPI])
def test_only_node_0_is_connected_to_unless_the_framework_names_every_rank(kind: str) -> None:
    distribution = Distribution(kind, 2, 4, "gloo")
    assert [ports_wanted(distribution, node) for node in (0, 1)] == [2, 0]
    met = meet(distribution, ["a", "b"], ["a", "b"], [[1, 2], []], None)
    assert (met.port, met.ports) == (1, {"0": 2})


def test_every_rank_of_tensorflow_has_a_port_on_its_node() -> None:
    distribution = Distribution(TENSORFLOW, nodes=2, workers=2, parameter_servers=1)
    assert [ports_wanted(distribution, node) for node in (0, 1)] == [3, 1]
    met = meet(distribution, ["a", "b"], ["a", "b"], [[1, 2, 3], [4]], None)
    assert (met.port, met.ports) == (1, {"0": 2, "2": 3, "1": 4})


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [(["127.0.0.1", "127.0.0.12"], True), (["::1"], True), (["127.0.0.1", "10.0.0.2"], False)],
)
def test_on_loopback(addresses: list[str], expected: bool) -> None:
    assert Meeting(addresses, ["a"] * len(addresses), 1).on_loopback is expected
