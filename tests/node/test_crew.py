"""What is on one node: a run of one process and a rank of many are started from the same orders."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from runyard.contracts.distribution import Distribution
from runyard.contracts.plan import Plan
from runyard.node.crew import Crew
from runyard.node.launch.meeting import meet
from runyard.node.problem import RunProblem, Unwanted
from runyard.node.signals import Signals

if TYPE_CHECKING:
    from tests.node.conftest import Gang, Node

Prepare = Callable[..., "Node"]
PrepareGang = Callable[..., "Gang"]


def nothing() -> None:
    pass


def crew_of(node: Node, signals: Signals) -> Crew:
    """A crew that is ready to start."""
    crew = Crew(Plan.load(node.folder), node.folder, signals)
    crew.get_ready("127.0.0.1", nothing, lambda reason: None)
    return crew


def test_a_run_of_one_process_is_a_crew_of_one(node: Prepare, signals: Signals) -> None:
    crew = crew_of(node({"train.py": ""}, arguments=["$RANK"]), signals)
    [order] = crew.orders(None)
    assert order.rank.rank == 0
    assert order.argv[-2:] == ["train.py", "$RANK"], "it has no rank that it could know"
    assert order.log == crew.folder / "streams" / "std_log.txt"
    assert "WORLD_SIZE" not in order.variables
    assert crew.ports is None, "nobody connects to it"


def test_each_rank_of_a_node_has_its_own_orders(gang: PrepareGang, signals: Signals) -> None:
    spread = Distribution(nodes=2, processes=4)
    crew = crew_of(gang({"train.py": ""}, spread, arguments=["$RANK"]).nodes[1], signals)
    meeting = meet(spread, ["10.0.0.1", "10.0.0.2"], ["a", "b"], [[29999, 29998], []], None)
    orders = crew.orders(meeting)
    assert [order.rank.rank for order in orders] == [2, 3]
    assert [order.argv[-1] for order in orders] == ["2", "3"]
    assert [order.log.name for order in orders] == ["std_log_process_2.txt", "std_log_process_3.txt"]
    assert {order.variables["MASTER_ADDR"] for order in orders} == {"10.0.0.1"}


def test_a_node_that_shares_the_leaders_folder_works_there(gang: PrepareGang, signals: Signals) -> None:
    nodes = gang({"train.py": ""}, Distribution(nodes=2)).nodes
    leader = crew_of(nodes[0], signals)
    follower = Crew(Plan.load(nodes[1].folder), nodes[1].folder, signals)
    follower.share_work(nodes[0].folder)
    follower.get_ready("127.0.0.1", nothing, lambda reason: None)
    assert follower.work == leader.work
    assert follower.variables()["PWD"] == str(leader.work)
    assert not (nodes[1].folder / "work").exists(), "it has laid out none of its own"


def test_a_script_that_is_not_there_is_known_before_anything_starts(node: Prepare, signals: Signals) -> None:
    crew = crew_of(node({"other.py": ""}), signals)
    with pytest.raises(RunProblem) as raised:
        crew.orders(None)
    assert raised.value.code == "ScriptNotFound"


def test_a_run_whose_folder_is_gone_is_unwanted(node: Prepare, signals: Signals) -> None:
    made = node({"train.py": ""})
    crew = Crew(Plan.load(made.folder), made.folder, signals)
    crew.check_wanted()
    shutil.rmtree(made.folder)
    with pytest.raises(Unwanted):
        crew.check_wanted()
