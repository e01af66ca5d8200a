"""Node 1 as a process, led by a node 0 that the test plays: it starts on order, reports, and ends with its leader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.contracts.distribution import Distribution
from runyard.contracts.plan import Plan
from runyard.node.gang import follower as module
from runyard.node.gang.leader import Leader
from runyard.node.launch.meeting import Meeting
from runyard.node.outcome.rank_ends import RankEnds
from runyard.node.signals import Signals

if TYPE_CHECKING:
    from tests.node.conftest import Gang

Prepare = Callable[..., "Gang"]
Until = Callable[[Callable[[], object], str], None]

TWO = Distribution(nodes=2, processes=2)

ALONE = "from runyard.node.gang import link; link.WITNESS = 'hidden'"
"""Given to a follower: its disk is another one than that of node 0."""


class Led:
    """A follower that has been told to start, and its leader."""

    def __init__(self, gang: Gang, leader: Leader, ends: RankEnds) -> None:
        self.gang, self.leader, self.ends = gang, leader, ends
        gang.nodes[1].start(but=ALONE)  # in the folder of a leader that is played, nothing was prepared
        members = leader.wait_until_ready(leader.receive, lambda reason: None)
        addresses = ["127.0.0.1", *(member.address for member in members)]
        leader.start(Meeting(addresses, ["here", *(member.host for member in members)], 1))

    @property
    def failed(self) -> bool:
        self.leader.receive()
        return self.ends.any_failed()

    def release(self) -> None:
        """End the node's part. The delivery of its logs is over when its runner has ended."""
        self.leader.end()
        self.gang.nodes[1].wait()


@pytest.fixture
def led(gang: Prepare, signals: Signals) -> Iterator[Callable[[str], Led]]:
    made: list[Leader] = []

    def lead(command: str) -> Led:
        gang_of_two = gang({}, TWO, command=command)
        folder, ends = gang_of_two.nodes[0].folder, RankEnds(TWO)
        made.append(Leader(Plan.load(folder), folder, signals, ends))
        return Led(gang_of_two, made[-1], ends)

    yield lead
    for leader in made:
        leader.close()


def test_it_starts_on_order_reports_the_end_and_delivers(led: Callable[[str], Led], until: Until) -> None:
    two = led("echo from rank $RANK; exit 3")
    until(lambda: two.failed, "the end of rank 1")
    assert two.ends.of(1).code == 3
    two.release()
    assert two.gang.std_log(1) == "from rank 1\n"


def test_without_its_leader_it_ends_what_it_started_and_delivers(led: Callable[[str], Led]) -> None:
    two = led("echo began; sleep 600")
    two.gang.wait_for_output(1, "began")
    two.leader.close()
    two.gang.nodes[1].wait()
    assert two.gang.std_log(1) == "began\n"
    assert two.gang.run.get()["status"] == "Running", "only the leader reports how a run ended"


@pytest.mark.parametrize(
    ("content", "shared"), [(b"the secret", True), (b"another", False), (b"\xff", False), (None, False)]
)
def test_a_disk_is_shared_when_the_leaders_secret_is_on_it(tmp_path: Path, content: bytes | None, shared: bool) -> None:
    if content is not None:
        (tmp_path / "witness").write_bytes(content)
    assert module._holds(tmp_path / "witness", "the secret") is shared
