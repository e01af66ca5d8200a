"""Node 0 and a follower that the test plays: gathering, starting, ending, and one that is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.contracts.distribution import Distribution
from runyard.contracts.plan import Plan
from runyard.node.delivery.run_delivery import RunDelivery
from runyard.node.gang import leader as module
from runyard.node.gang.leader import Leader
from runyard.node.gang.link import WITNESS, Link
from runyard.node.gang.publish import find_leader
from runyard.node.launch.meeting import Meeting
from runyard.node.outcome.rank_ends import RankEnd, RankEnds
from runyard.node.problem import RunProblem
from runyard.node.signals import Signals

if TYPE_CHECKING:
    from tests.node.conftest import Gang

Prepare = Callable[..., "Gang"]
Until = Callable[[Callable[[], object], str], None]

TWO = Distribution(nodes=2, processes=2)


class Two:
    """A leader, and the link of its one follower."""

    def __init__(self, gang: Gang, signals: Signals, open_: ExitStack) -> None:
        self.folder, self._other = (node.folder for node in gang.nodes)
        self.plan = Plan.load(self.folder)
        self.ends = RankEnds(TWO)
        self.signals = signals
        self.leader = open_.enter_context(closing(Leader(self.plan, self.folder, signals, self.ends)))
        self._open = open_

    def join(self) -> Link:
        link = find_leader(Plan.load(self._other), self._other, lambda: None)
        assert link is not None
        return self._open.enter_context(closing(link))

    def received(self, condition: Callable[[], object]) -> Callable[[], object]:
        def look() -> object:
            self.leader.receive()
            return condition()

        return look


@pytest.fixture
def two(gang: Prepare, signals: Signals) -> Iterator[Two]:
    with ExitStack() as open_:
        yield Two(gang({}, TWO, command="true"), signals, open_)


def test_a_follower_is_gathered_started_and_ended(two: Two, until: Until) -> None:
    link = two.join()
    welcome = link.receive()
    assert welcome["say"] == "welcome"
    assert (Path(welcome["folder"]) / WITNESS).read_text() == welcome["word"], "by which a follower sees a shared disk"
    link.send("hello", host="there", address="10.0.0.2", shares_work=False)
    link.send("ready", ports=[5])
    [member] = two.leader.wait_until_ready(two.leader.receive, lambda reason: None)
    assert (member.host, member.address, member.ports) == ("there", "10.0.0.2", [5])
    meeting = Meeting(["10.0.0.1", "10.0.0.2"], ["here", "there"], 1)
    two.leader.start(meeting)
    assert Meeting.from_dict(link.receive()["meeting"]) == meeting
    link.send("ended", end=RankEnd(1, 1, 0, None, 0.0).as_dict())
    until(two.received(lambda: 1 not in [rank.rank for rank in two.ends.unfinished()]), "the end of rank 1")
    two.leader.end()
    assert link.receive()["say"] == "end"
    link.send("over", ends=[])
    two.leader.wait_until_ended()
    delivery = RunDelivery(two.plan, two.folder, two.signals)
    link.send("delivered", warnings=[{"source": "x", "message": "y"}])
    assert two.leader.wait_until_delivered(delivery) == [{"source": "x", "message": "y"}]
    assert not two.leader.broken
    delivery.finish(None)
    until(lambda: delivery.outcome is not None, "the delivery of node 0")


def test_how_many_are_ready_is_reported_while_others_are_waited_for(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REPORT_AFTER", 0.0)
    reported: list[str] = []

    def check() -> None:
        two.leader.receive()
        if reported:
            raise RunProblem("Enough", "the test has seen it")

    with pytest.raises(RunProblem, match="has seen it"):
        two.leader.wait_until_ready(check, reported.append)
    assert reported == ["1 of 2 nodes are ready"]


def test_a_follower_that_goes_is_lost_from_then_on(two: Two, until: Until) -> None:
    link = two.join()
    link.send("hello", host="there", address="10.0.0.2", shares_work=False)
    link.close()
    until(two.received(lambda: two.leader.broken), "the loss")
    with pytest.raises(RunProblem) as raised:
        two.leader.check()
    assert raised.value.code == "NodeLost"
    assert raised.value.message.startswith("Node 1 (there) was lost")
    before = RankEnd(0, 0, 1, None, 0.0, error={"code": "UserError"})
    assert two.leader.lost_before(before) is None, "what failed before is why the run failed"
    lost = two.leader.lost_before(None)
    assert lost is not None
    assert lost["code"] == "NodeLost"


def test_a_stop_of_a_follower_is_one_of_the_run(two: Two, until: Until) -> None:
    link = two.join()
    link.send("stop_asked")
    until(two.received(lambda: two.leader.stop_requested), "the stop")


def test_a_follower_that_comes_too_late_is_sent_away(two: Two, until: Until) -> None:
    two.leader.end()
    link = two.join()
    assert link.receive()["say"] == "welcome"
    link.send("hello", host="there", address="10.0.0.2", shares_work=False)
    until(two.received(lambda: two.leader._roster.absent() == []), "the hello to be noted")
    assert link.receive()["say"] == "end"


def test_nodes_that_do_not_come_in_time_are_named(two: Two, until: Until, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HERE_WITHIN", 0.0)
    until(lambda: two.leader._publisher.published_at is not None, "the address to be published")
    with pytest.raises(RunProblem) as raised:
        two.leader.check()
    assert raised.value.code == "GangIncomplete"
