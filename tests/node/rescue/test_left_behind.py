"""On a node with a disk of its own, the next runner delivers what a killed one has left, and no more."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.contracts.plan import Plan
from runyard.node.lock import take_lock
from runyard.node.rescue.left_behind import deliver_left_behind
from runyard.node.signals import Signals
from runyard.node.state import RUNNING, Launched, State, machine
from runyard.system.processes import started

if TYPE_CHECKING:
    from tests.node.conftest import Node

Prepare = Callable[..., "Node"]

DEAD = Launched(4_000_000, None)  # beyond the largest process id


def leave(node: Node, runner: Launched = DEAD, where: str | None = None) -> Node:
    """What a runner has written before it was killed."""
    State(RUNNING, runner, "cookie", machine=machine() if where is None else where).save(node.folder)
    (node.folder / "telemetry" / "journal").mkdir(parents=True)
    (node.folder / "streams" / "std_log.txt").write_text("epoch 1\n")
    return node


@pytest.fixture
def here(node: Prepare) -> Node:
    """The folder of the runner that comes next."""
    return node({"train.py": ""})


def test_what_a_dead_runner_left_is_delivered(node: Prepare, here: Node, signals: Signals) -> None:
    left = leave(node({"train.py": ""}))
    deliver_left_behind(Plan.load(here.folder), here.folder, signals)
    assert left.run.read("user_logs/std_log.txt") == b"epoch 1\n"
    assert left.run.get()["error"]["code"] == "NodeRunnerLost"
    assert not left.folder.exists()
    assert here.folder.exists()


def test_what_lives_or_may_live_is_left_alone(node: Prepare, here: Node, signals: Signals) -> None:
    alive = leave(node({"train.py": ""}), Launched(os.getpid(), started(os.getpid())))
    elsewhere = leave(node({"train.py": ""}), where="another machine")
    locked = leave(node({"train.py": ""}))
    not_begun = node({"train.py": ""})
    lock = take_lock(locked.folder)
    assert lock is not None
    with lock:
        deliver_left_behind(Plan.load(here.folder), here.folder, signals)
    for each in (alive, elsewhere, locked, not_begun):
        assert (each.folder / "plan.json").exists()
        assert each.run.get()["status"] == "Running"


def test_what_is_of_another_server_is_not_ours(node: Prepare, here: Node, signals: Signals) -> None:
    other = leave(node({"train.py": ""}))
    plan = Plan.load(other.folder)
    replace(plan, server_url="http://127.0.0.1:9").save(other.folder)
    deliver_left_behind(Plan.load(here.folder), here.folder, signals)
    assert (other.folder / "plan.json").exists()


def test_a_folder_without_a_plan_stops_nobody(node: Prepare, here: Node, signals: Signals, tmp_path: Path) -> None:
    broken = leave(node({"train.py": ""}))
    (broken.folder / "plan.json").write_text("{")
    left = leave(node({"train.py": ""}))
    deliver_left_behind(Plan.load(here.folder), here.folder, signals)
    assert not left.folder.exists()
    assert broken.folder.exists()
    shutil.rmtree(broken.folder)
