"""What the leader makes of its followers' messages: who is ready, failed or lost, and when by its own clock."""

from __future__ import annotations

import time
from typing import Any

from runyard.contracts.distribution import Distribution
from runyard.node.gang.link import LOST, Message
from runyard.node.gang.roster import Roster, incomplete, lost, undelivered
from runyard.node.outcome.rank_ends import RankEnd, RankEnds

THREE = Distribution(nodes=3, processes=3)


def message(kind: str, **more: Any) -> Message:
    return {"say": kind, "at": time.monotonic(), **more}


def hello(roster: Roster, node: int) -> None:
    roster.note(node, message("hello", host=f"host{node}", address=f"10.0.0.{node}", shares_work=node == 1), 0.0)


def test_nodes_come_get_ready_end_and_deliver() -> None:
    roster = Roster(THREE, RankEnds(THREE))
    assert roster.absent() == [1, 2]
    hello(roster, 1)
    assert roster.absent() == [2]
    assert (roster.members[1].name, roster.members[1].shares_work) == ("node 1 (host1)", True)
    roster.note(1, message("ready", ports=[5]), 0.0)
    assert (roster.members[1].ready, roster.members[1].ports) == (True, [5])
    assert roster.delivering()
    assert not roster.over()
    roster.note(1, message("over", ends=[]), 0.0)
    assert roster.over(), "node 2 was never here"
    roster.note(1, message("delivered", warnings=[{"source": "x", "message": "y"}]), 0.0)
    assert not roster.delivering()
    assert roster.warnings == [{"source": "x", "message": "y"}]


def test_the_end_of_a_rank_is_timed_by_the_leaders_clock() -> None:
    ends = RankEnds(THREE)
    roster = Roster(THREE, ends)
    behind = 1000.0  # their clock is that much behind ours
    end = RankEnd(1, 1, 7, None, time.monotonic() - behind, error={"code": "UserError"})
    before = time.monotonic()
    roster.note(1, {**message("ended", end=end.as_dict()), "at": time.monotonic() - behind}, 0.0)
    assert before - 1.0 <= ends.of(1).at <= time.monotonic()
    assert ends.of(1).exit.code == 7


def test_the_first_node_that_was_lost_counts_unless_it_was_done() -> None:
    roster = Roster(THREE, RankEnds(THREE))
    hello(roster, 1)
    hello(roster, 2)
    roster.note(2, {"say": LOST, "why": "it broke"}, 5.0)
    roster.note(1, {"say": LOST, "why": "it broke too"}, 4.0)
    roster.note(1, {"say": LOST, "why": "again"}, 3.0)
    first = roster.first_lost()
    assert first is not None
    assert (first.node, first.lost) == (1, "it broke too")
    assert lost(first)["message"] == "Node 1 (host1) was lost: it broke too."
    assert not roster.delivering()


def test_a_node_that_has_delivered_may_go() -> None:
    roster = Roster(THREE, RankEnds(THREE))
    hello(roster, 1)
    roster.note(1, message("delivered", warnings=[]), 0.0)
    roster.note(1, {"say": LOST, "why": "it closed"}, 1.0)
    assert roster.first_lost() is None


def test_a_node_that_ended_its_processes_is_not_why_a_run_fails() -> None:
    roster = Roster(THREE, RankEnds(THREE))
    hello(roster, 1)
    roster.note(1, message("over", ends=[]), 0.0)
    roster.note(1, {"say": LOST, "why": "it broke"}, 1.0)
    assert roster.first_lost() is None
    assert undelivered(roster.members[1])["message"].startswith("Node 1 (host1) has not delivered")


def test_the_first_problem_is_the_runs_and_names_its_node() -> None:
    roster = Roster(THREE, RankEnds(THREE))
    hello(roster, 2)
    roster.note(2, message("failed", error={"code": "ScriptNotFound", "message": "There is no script."}), 0.0)
    roster.note(1, message("failed", error={"code": "Other", "message": "x"}), 0.0)
    assert roster.problem is not None
    assert (roster.problem["code"], roster.problem["node"]) == ("ScriptNotFound", 2)
    assert roster.problem["message"] == "On node 2 (host2): There is no script."


def test_a_stop_on_any_node_is_one_of_the_run() -> None:
    roster = Roster(THREE, RankEnds(THREE))
    roster.note(2, message("stop_asked"), 0.0)
    assert roster.stop_requested


def test_nodes_that_never_came_are_counted() -> None:
    assert incomplete([2], 3, 120.0).message == "1 of 3 nodes did not report to node 0 within 120 s: node 2."
