"""The delivery of a node runner: everything is there before the end is reported, under the names of its node."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runyard.contracts.distribution import MPI, Distribution
from runyard.contracts.plan import Plan
from runyard.node.delivery.follow_loop import FollowLoop
from runyard.node.delivery.run_delivery import (
    AWAY,
    DELIVERED,
    INTERNAL_FAULT,
    LEFT_FOR_LATER,
    RunDelivery,
    deliver,
    history_name,
)
from runyard.node.facts import ended, started
from runyard.node.signals import Signals

if TYPE_CHECKING:
    from tests.node.conftest import Gang, Node, Server

Prepare = Callable[..., "Node"]
PrepareGang = Callable[..., "Gang"]
Until = Callable[[Callable[[], object], str], None]


def folder_of(node: Node) -> Path:
    """A run folder as it is when the script has written to it."""
    for name in ("work/outputs", "work/logs", "telemetry/journal"):
        (node.folder / name).mkdir(parents=True)
    (node.folder / "streams" / "std_log.txt").write_text("epoch 1\n")
    (node.folder / "streams" / "runner.log").write_text("begun\n")
    (node.folder / "work" / "logs" / "a").write_text("log")
    (node.folder / "work" / "outputs" / "model").write_text("weights")
    return node.folder


def test_all_of_it_is_there_when_the_end_is_reported(node: Prepare, signals: Signals) -> None:
    made = node({"train.py": ""})
    folder = folder_of(made)
    delivery = RunDelivery(Plan.load(folder), folder, signals)
    delivery.report(started())
    assert deliver(delivery, ended("completed"), folder, signals) == 0
    assert delivery.outcome == DELIVERED
    assert not folder.exists()
    assert made.run.get()["status"] == "Completed"
    contents = {name: made.run.read(name) for name in made.run.files()}
    assert contents.pop("system_logs/runner.log").startswith(b"begun\n")
    assert contents == {"user_logs/std_log.txt": b"epoch 1\n", "logs/a": b"log", "outputs/model": b"weights"}


def test_a_run_that_goes_on_has_the_collector_that_a_short_one_does_without(node: Prepare, signals: Signals) -> None:
    """A node runner that lives for weeks would grow."""
    made = node({"train.py": ""})
    folder = folder_of(made)
    gc.disable()  # as the nursery has it
    try:
        delivery = RunDelivery(Plan.load(folder), folder, signals, patient=True)
        assert not gc.isenabled()
        delivery.report(started())
        delivery.begin()
        assert gc.isenabled()
        assert deliver(delivery, ended("completed"), folder, signals) == 0
    finally:
        gc.enable()


def test_an_end_that_is_held_waits_and_takes_the_warnings_of_others(
    node: Prepare, signals: Signals, until: Until
) -> None:
    made = node({"train.py": ""})
    folder = folder_of(made)
    delivery = RunDelivery(Plan.load(folder), folder, signals)
    delivery.hold_report()
    delivery.finish(ended("completed"))
    until(lambda: "outputs/model" in made.run.files(), "the outputs")
    assert delivery.outcome is None
    assert made.run.get()["status"] == "Running"
    delivery.release_report([{"source": "node runner", "message": "Node 1 has not delivered all."}])
    until(lambda: delivery.outcome is not None, "the report")
    assert made.run.get()["status"] == "Completed"
    assert [each["message"] for each in made.run.get()["warnings"]] == ["Node 1 has not delivered all."]


def test_a_node_that_does_not_lead_reports_no_end(gang: PrepareGang, signals: Signals) -> None:
    node = gang({"train.py": ""}, Distribution(nodes=2)).nodes[1]
    folder = folder_of(node)
    (folder / "streams" / "std_log_process_1.txt").write_text("rank 1\n")
    assert deliver(RunDelivery(Plan.load(folder), folder, signals), None, folder, signals) == 0
    assert node.run.get()["status"] == "Running"
    names = set(node.run.files())
    assert {"user_logs/std_log_process_1.txt", "logs/node_1/a", "outputs/node_1/model"} <= names
    assert "system_logs/runner_node_1.log" in names


def test_a_working_folder_that_is_shared_is_delivered_by_node_0_alone(gang: PrepareGang, signals: Signals) -> None:
    node = gang({"train.py": ""}, Distribution(nodes=2)).nodes[1]
    folder = folder_of(node)
    delivery = RunDelivery(Plan.load(folder), folder, signals, shares_work=True)
    assert deliver(delivery, None, folder, signals) == 0
    assert set(node.run.files()) == {"system_logs/runner_node_1.log"}


def test_a_run_that_was_deleted_is_not_waited_for(node: Prepare, signals: Signals) -> None:
    made = node({"train.py": ""})
    folder = folder_of(made)
    client = made.run.server.client
    client.post(f"/api/runs/{made.run.id}/facts", {"fact": "ended", "outcome": "completed"})
    client.delete(f"/api/runs/{made.run.id}")
    delivery = RunDelivery(Plan.load(folder), folder, signals)
    assert deliver(delivery, ended("completed"), folder, signals) == 0
    assert delivery.unwanted
    assert not folder.exists()


def test_a_server_that_stays_away_leaves_everything_for_a_rescue(
    node: Prepare, own_server: Server, signals: Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runyard.node.delivery.retrying_client.AFTER_THE_END", 0.0)
    made = node({"train.py": ""}, server=own_server)
    folder = folder_of(made)
    own_server.kill()
    delivery = RunDelivery(Plan.load(folder), folder, signals)
    assert deliver(delivery, ended("completed"), folder, signals) == LEFT_FOR_LATER
    assert delivery.outcome == AWAY
    assert (folder / "work" / "outputs" / "model").exists()


def test_a_fault_of_ours_leaves_everything_for_a_rescue(
    node: Prepare, signals: Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Any, until: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(FollowLoop, "follow", broken)
    folder = folder_of(node({"train.py": ""}))
    delivery = RunDelivery(Plan.load(folder), folder, signals)
    assert deliver(delivery, ended("completed"), folder, signals) == INTERNAL_FAULT
    assert (folder / "work" / "outputs" / "model").exists()


def test_the_names_in_the_history(node: Prepare) -> None:
    plan = Plan.load(node({"train.py": ""}).folder)
    assert history_name(plan, "logs") == "logs"
    assert history_name(replace(plan, node=2), "logs") == "logs/node_2"


def test_mpirun_has_a_log_of_its_own(gang: PrepareGang, signals: Signals) -> None:
    node = gang({"train.py": ""}, Distribution(MPI, processes=2)).nodes[0]
    folder = folder_of(node)
    (folder / "streams" / "mpirun.log").write_text("from mpirun\n")
    assert deliver(RunDelivery(Plan.load(folder), folder, signals), ended("completed"), folder, signals) == 0
    assert node.run.read("system_logs/mpirun.log") == b"from mpirun\n"
