"""If these fail, a run whose node runner died would stay under way for ever, or would start with a wrong plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engines.conftest import gang_of
from tests.scheduler.conftest import wait

from runyard.contracts import states as names
from runyard.contracts.compute import Target
from runyard.contracts.plan import Plan
from runyard.engines.base import EngineAway, EngineError, EngineEvents, Gang, Handle
from runyard.engines.folders import RunFolders
from runyard.engines.local import LocalEngine
from runyard.engines.registry import Engines
from runyard.engines.sdk_folder import sdk_folder
from runyard.scheduler import launcher
from runyard.scheduler.scheduler import Scheduler, Surroundings
from runyard.store.assets import compute
from runyard.store.errors import Unavailable
from runyard.store.runs import runs, workspace_settings, workspaces
from runyard.store.runs.runs import SCRIPT, NewRun
from runyard.store.store import Store


class BesideAnAbsentDatabase(RunFolders):
    """The database goes away at the very moment when a node runner is found dead, and comes back."""

    asked = 0

    def rescue(self, run_id: str, events: EngineEvents) -> Handle | None:
        self.asked += 1
        if self.asked == 1:
            raise Unavailable("not_ready", "The database does not answer.")
        return super().rescue(run_id, events)


def surroundings(home: Path, secrets: dict[str, str]) -> Surroundings:
    return Surroundings(
        home, lambda: "http://127.0.0.1:9", lambda run_id: "token", lambda: home / "sdk", secrets.__getitem__
    )


def scheduler_of(home: Path, store: Store, engines: Engines, secrets: dict[str, str]) -> Scheduler:
    return Scheduler(store, engines, surroundings(home, secrets), lambda run_id, change: None)


def test_a_node_runner_that_died_while_the_database_was_away_is_not_forgotten(home: Path) -> None:
    store = Store.open(home)
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
        launch = {"command": "true"}
        new = NewRun("run-1", "local", "trial", names.RUNNING, "started", kind=SCRIPT, target="local", launch=launch)
        runs.create(connection, new)
    engines = Engines(home)
    engines.folders = folders = BesideAnAbsentDatabase(home / "runs")
    scheduler = scheduler_of(home, store, engines, {})
    scheduler.start()
    try:
        wait(lambda: _status(store, "run-1") == names.FAILED)
        assert folders.asked == 2
    finally:
        scheduler.close()
        store.close()


def test_a_run_whose_server_died_before_its_node_runner_was_there_is_started_once_more(home: Path) -> None:
    store = Store.open(home)
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
        new = NewRun("run-1", "local", "trial", names.PREPARING, "starts", kind=SCRIPT, target="local", launch={})
        runs.create(connection, new)
    engines = Engines(home)
    engines.local = engine = Planned(home / "runs")
    (folder,) = engines.folders.make(gang_of(home))
    assert not engines.folders.begun("run-1")
    scheduler = scheduler_of(home, store, engines, {})
    scheduler.start()
    try:
        wait(lambda: engine.plans, "for the run to be started")
    finally:
        scheduler.close()
        store.close()
    assert not (folder / "streams" / "runner.log").exists(), "there was nothing to be rescued"


DIES_THRICE = """
import os, sys
with open({count!r}, "a") as file:
    file.write("x")
    if file.tell() <= 3:
        sys.exit()
os.execv(sys.executable, [sys.executable, "-I", "-S", {node!r}, *sys.argv[1:]])
"""


def test_a_run_that_could_not_be_started_goes_back_to_its_queue_and_is_started_later(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "RETRY_AFTER", 0.05)
    node, folder = sdk_folder(home) / "runyard" / "node", home / "sdk" / "runyard" / "node"
    folder.mkdir(parents=True)
    (folder / "__main__.py").write_text(DIES_THRICE.format(count=str(home / "starts"), node=str(node)))
    store = Store.open(home)
    told: list[tuple[str, str | None]] = []
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
        runs.create(
            connection, NewRun("run-1", "local", "trial", kind=SCRIPT, target="local", launch={"command": "true"})
        )
    engines = Engines(home)
    leading = Scheduler(
        store, engines, surroundings(home, {}), lambda run_id, change: told.append((change.status, change.reason))
    )
    leading.start()
    try:
        wait(lambda: engines.folders.begun("run-1"), "for a node runner")
        assert [status for status, _ in told] == ["Preparing", "Queued", "Preparing"]
        assert "has ended" in str(told[1][1])
    finally:
        leading.close()
        engines.close()
        store.close()
        engines.folders.of("run-1").rename(home / "elsewhere")  # its runner ends by itself then


class GivenUp(LocalEngine):
    """The user marks the run as failed while it is being started, and the start fails."""

    starts = 0
    give_up: Callable[[], object]

    def start(self, gang: Gang, events: EngineEvents) -> Handle:
        self.starts += 1
        self.give_up()
        raise EngineAway("what starts node runners has ended")


def test_a_run_that_was_given_up_while_its_start_failed_ends_as_its_user_said(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "RETRY_AFTER", 0.05)
    store = Store.open(home)
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
        runs.create(connection, NewRun("run-1", "local", "trial", kind=SCRIPT, target="local", launch={}))
    engines = Engines(home)
    engines.local = engine = GivenUp(engines.folders)
    leading = scheduler_of(home, store, engines, {})
    engine.give_up = lambda: leading.declare("run-1", "failed", {"code": "UserError", "message": "no use"})
    leading.start()
    try:
        wait(lambda: _status(store, "run-1") == names.FAILED, "for the run to end")
        assert engine.starts == 1
    finally:
        leading.close()
        engines.close()
        store.close()


def _status(store: Store, run_id: str) -> str:
    with store.database.read() as connection:
        return runs.get(connection, run_id).status


class Planned(LocalEngine):
    """Keeps the plans that it is handed, and starts nothing."""

    def __init__(self, folder: Path) -> None:
        super().__init__(RunFolders(folder))
        self.plans: list[Plan] = []

    def start(self, gang: Gang, events: EngineEvents) -> Handle:
        self.plans += gang.plans
        raise EngineError("nothing is started here")


def test_a_plan_tells_how_the_environment_of_a_run_is_built(home: Path) -> None:
    store = Store.open(home)
    name = "RUNYARD_SECRET_" + "a" * 32
    environment = {"name": "mine", "options": [f"--index-url https://${{{name}}}@host/simple"]}
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
        workspace_settings.put(connection, "local", "environments.relax", "true")
        workspace_settings.put(connection, "local", "environments.limit", "2GB")
        compute.create(connection, "local", Target("gpus", vm_size="STANDARD_NC6", max_nodes=2))
        launch = {"command": "true", "environment": environment, "notes": ["a note"]}
        runs.create(connection, NewRun("run-1", "local", "trial", target="gpus", launch=launch, nodes=2))
    engines = Engines(home)
    engines.local = engine = Planned(home / "runs")
    scheduler = scheduler_of(home, store, engines, {name: "me:pw"})
    scheduler.start()
    try:
        wait(lambda: _status(store, "run-1") == names.FAILED)
    finally:
        scheduler.close()
        store.close()
    plan, second = engine.plans
    assert (plan.relax, plan.environments_limit) == (True, 2 * 10**9)
    assert plan.environments == str(home / "environments")
    assert plan.secrets == {name: "me:pw"}
    assert plan.launch.environment == environment
    assert plan.launch.notes[0] == "a note"
    assert plan.launch.notes[1].startswith("gpus stands for STANDARD_NC6 (6 cores"), "what this machine cannot promise"
    assert second.launch.notes == ["a note"], "it is said once"
    assert (plan.node, second.node, plan.target_type) == (0, 1, "AmlCompute")
