"""If these fail, what a run has written could stay on a disk for ever, or be removed before anybody has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engines.conftest import gang_of
from tests.scheduler.conftest import Yard, wait

from runyard.contracts import states as names
from runyard.engines.base import EngineError, EngineEvents, Handle
from runyard.engines.folders import RESCUE, RunFolders
from runyard.node.lock import take_lock
from runyard.scheduler import stranded
from runyard.scheduler.stranded import Stranded, pause_after
from runyard.store.content import deletion
from runyard.store.runs import runs, workspaces
from runyard.store.runs.runs import SCRIPT, NewRun
from runyard.store.store import Store


class Hands(RunFolders):
    """Real folders, and rescuers that do what the test says, when it says so."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.sent: list[str] = []
        self.refuses = False

    def rescue(self, run_id: str, events: EngineEvents) -> Handle | None:
        self.sent.append(run_id)
        if self.refuses:
            raise EngineError("there is no space left")
        return {RESCUE: {"pid": 0}}


class Left:
    """A store, folders in which runners have worked, and what looks after them."""

    def __init__(self, home: Path) -> None:
        self.home, self.store, self.hands = home, Store.open(home), Hands(home / "runs")
        self.stranded = Stranded(self.store, self.hands)
        with self.store.database.write() as connection:
            workspaces.ensure_default(connection)

    def run(self, run_id: str, status: str = names.FAILED, worked: bool = True) -> Path:
        with self.store.database.write() as connection:
            runs.create(connection, NewRun(run_id, "local", "trial", status, "ended", kind=SCRIPT, launch={}))
        return self.folder(run_id, worked)

    def folder(self, run_id: str, worked: bool = True) -> Path:
        (folder,) = self.hands.make(gang_of(self.home, run_id))
        if worked:
            (folder / "runner.lock").touch()
        return folder

    def sent(self, times: int) -> None:
        wait(lambda: len(self.hands.sent) >= times, f"for {times} rescuers: {self.hands.sent}")


@pytest.fixture
def left(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Left]:
    monkeypatch.setattr(stranded, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(stranded, "NO_PLACE", 0.01)
    left = Left(home)
    yield left
    left.stranded.close()
    left.store.close()


def test_pauses_grow_and_have_an_end() -> None:
    assert [pause_after(tries) for tries in (0, 1, 2, 3, 4)] == [0.0, 1.0, 2.0, 4.0, 8.0]
    assert pause_after(50) == pause_after(100_000) == stranded.LONGEST_PAUSE


@pytest.mark.parametrize("status", [names.FAILED, names.CANCELED, names.COMPLETED])
def test_it_is_tried_until_nothing_is_left(left: Left, status: str) -> None:
    folder = left.run("run-1", status)
    left.stranded.look("run-1")
    for times in range(1, 8):
        left.sent(times)
        left.stranded.gone("run-1", "killed by SIGKILL")
    left.sent(8)
    left.hands.clear("run-1")
    left.stranded.gone("run-1", "exit code 0")
    left.run("run-2")
    left.stranded.look("run-2")
    left.sent(9)
    assert left.hands.sent[8] == "run-2"
    assert not folder.exists()


def test_a_rescuer_that_cannot_be_started_is_tried_again(left: Left) -> None:
    left.run("run-1")
    left.hands.refuses = True
    left.stranded.look("run-1")
    left.sent(3)
    left.hands.refuses = False


def test_after_a_bad_night_few_are_at_work_at_once(left: Left) -> None:
    many = [f"run-{number}" for number in range(stranded.AT_ONCE + 2)]
    for run_id in many:
        left.run(run_id)
        left.stranded.look(run_id)
    left.sent(stranded.AT_ONCE)
    for done, run_id in enumerate(many[:2], 1):
        left.hands.clear(run_id)
        left.stranded.gone(run_id, "exit code 0")
        left.sent(stranded.AT_ONCE + done)
        assert len(left.hands.sent) == stranded.AT_ONCE + done
    assert sorted(left.hands.sent) == many


def test_what_nobody_has_is_left_alone_and_what_nobody_needs_is_removed(left: Left) -> None:
    unknown, under_way = left.folder("of-another-database"), left.run("run-1", names.RUNNING)
    unused = left.run("run-2", worked=False)
    for run_id in ("of-another-database", "run-1", "run-2"):
        left.stranded.look(run_id)
    wait(lambda: not unused.exists())
    assert unknown.exists()
    assert under_way.exists()
    assert left.hands.sent == []


def test_a_run_that_is_deleted_takes_its_folder_along(left: Left) -> None:
    folder = left.run("run-1")
    left.stranded.forget("run-1")
    left.stranded.forget("run-" + "1" * 240)  # one that never had a folder
    assert not folder.exists()


def test_a_rescuer_that_is_killed_at_the_folder_of_a_deleted_run_leaves_it_to_nobody(left: Left) -> None:
    folder = left.run("run-1")
    lock = take_lock(folder)
    assert lock is not None
    with lock:
        deletion.delete_runs(left.store, ["run-1"])
        left.stranded.forget("run-1")
        assert folder.exists()
    left.stranded.gone("run-1", "killed by SIGKILL")
    wait(lambda: not folder.exists())


def given_up(yard: Yard, status: str, target: str = "local") -> str:
    """A run that was given up under a former server, whose folder lies here."""
    with yard.store.database.write() as connection:
        new = NewRun("run-1", "local", "trial", status, "lost", kind=SCRIPT, target=target, launch={})
        runs.create(connection, new)
    (folder,) = RunFolders(yard.home / "runs").make(gang_of(yard.home))
    (folder / "runner.lock").touch()
    return "run-1"


def test_every_start_of_the_server_tries_again(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(RunFolders, "rescue", lambda self, run_id, events: sent.append(run_id))
    given_up(yard, names.FAILED)
    yard.start()
    wait(lambda: len(sent) == 1)
    yard.restart()
    wait(lambda: len(sent) == 2)


def test_a_gang_on_a_cluster_that_was_given_up_is_left_to_it_while_it_lives(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(RunFolders, "rescue", lambda self, run_id, events: sent.append(run_id))
    run_id, cluster = given_up(yard, names.FAILED, "hpc"), yard.clusters["hpc"]
    with yard.store.database.write() as connection:
        runs.set_handle(connection, run_id, {"job": 1})
    cluster.alive.add(run_id)
    yard.start()
    wait(lambda: cluster.events is not None, "for the gang to be watched")
    assert sent == []
    cluster.gone(run_id)
    wait(lambda: sent == [run_id])
