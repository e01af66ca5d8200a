"""If these fail, a run's folder could lie anywhere, be removed while it is used, or never be found again."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path

import pytest
from tests.engines.conftest import Listener, gang_of
from tests.support.bad_json import every_bad_text

from runyard.contracts.names import BadName
from runyard.contracts.plan import Plan
from runyard.engines import runners
from runyard.engines.base import EngineError
from runyard.engines.folders import RunFolders


@pytest.fixture
def folders(home: Path) -> RunFolders:
    return RunFolders(home / "runs")


def test_a_gang_is_laid_out_with_a_plan_for_each_node(folders: RunFolders, home: Path) -> None:
    made = folders.make(gang_of(home, nodes=2, command="true"))
    assert [Plan.load(folder).node for folder in made] == [0, 1]
    assert all((folder / "plan.json").stat().st_mode & 0o077 == 0 for folder in made)
    assert folders.left() == ["run-1"]


def test_what_is_left_goes_with_all_its_nodes_but_not_under_a_runner_that_lives(
    folders: RunFolders, home: Path
) -> None:
    first, second = folders.make(gang_of(home, nodes=2, command="true"))
    with open(second / "runner.lock", "w") as lock:
        lock.write(json.dumps({"pid": os.getpid()}))
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        folders.clear("run-1")
        assert not first.exists()
        assert second.exists()
    folders.clear("run-1")
    assert folders.left() == []


@every_bad_text
def test_a_lock_that_is_held_is_held_whatever_it_says(folders: RunFolders, home: Path, text: bytes) -> None:
    (folder,) = folders.make(gang_of(home, command="true"))
    (folder / "runner.lock").write_bytes(text)
    with open(folder / "runner.lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert folders.begun("run-1")
        holder = runners.holder(folder / "runner.lock")
        assert holder is not None
        assert runners.find(holder) is None


@every_bad_text
def test_a_plan_that_cannot_be_read_is_told_in_words(folders: RunFolders, home: Path, text: bytes) -> None:
    (folder,) = folders.make(gang_of(home, command="true"))
    (folder / "plan.json").write_bytes(text)
    with pytest.raises(EngineError, match=r"cannot be delivered: .*plan\.json does not hold"):
        folders.rescue("run-1", Listener())


def test_nothing_to_rescue_without_a_plan(folders: RunFolders) -> None:
    assert folders.rescue("run-1", Listener()) is None


def test_a_run_id_is_never_a_way_out(folders: RunFolders) -> None:
    with pytest.raises(BadName):
        folders.rescue("../x", Listener())


def test_nothing_is_left_where_nothing_ever_ran(home: Path) -> None:
    assert RunFolders(home / "nowhere").left() == []


def test_what_a_follower_left_is_rescued_when_node_0_is_done(folders: RunFolders, home: Path) -> None:
    first, second = folders.make(gang_of(home, nodes=2, command="true"))
    assert folders.to_rescue("run-1") == first
    folders.clear("run-2")
    assert not folders.worked_in("run-1"), "it has begun nowhere"
    shutil.rmtree(first)
    assert folders.to_rescue("run-1") is None
    (second / "state.json").touch()
    assert folders.to_rescue("run-1") == second
    assert folders.worked_in("run-1")
