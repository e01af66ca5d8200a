"""If these fail, a run whose node runner died would stay under way for ever, or would start with a wrong plan."""

from __future__ import annotations

import time
from pathlib import Path

from runyard.contracts import states
from runyard.contracts.plan import Plan
from runyard.engines.base import EngineError, Gone, Handle
from runyard.engines.local import LocalEngine
from runyard.scheduler.scheduler import Scheduler, Surroundings
from runyard.store import runs, workspace_settings, workspaces
from runyard.store.errors import Unavailable
from runyard.store.runs import SCRIPT, NewRun
from runyard.store.store import Store

DEADLINE = 30.0


class BesideAnAbsentDatabase(LocalEngine):
    """The database goes away at the very moment when a node runner is found dead, and comes back."""

    asked = 0

    def rescue(self, run_id: str, gone: Gone) -> Handle | None:
        self.asked += 1
        if self.asked == 1:
            raise Unavailable("not_ready", "The database does not answer.")
        return super().rescue(run_id, gone)


def test_a_node_runner_that_died_while_the_database_was_away_is_not_forgotten(home: Path) -> None:
    store = Store.open(home)
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
        launch = {"command": "true"}
        new = NewRun("run-1", "local", "trial", states.RUNNING, "started", kind=SCRIPT, target="local", launch=launch)
        runs.create(connection, new)
    engine = BesideAnAbsentDatabase(home / "runs")
    around = Surroundings(home, lambda: "http://127.0.0.1:9", lambda run_id: "token", lambda: home / "sdk", str)
    scheduler = Scheduler(store, {"local": engine}, around, lambda run_id, change: None)
    scheduler.start()
    try:
        deadline, status = time.monotonic() + DEADLINE, states.RUNNING
        while status == states.RUNNING and time.monotonic() < deadline:
            time.sleep(0.02)
            with store.database.read() as connection:
                status = runs.get(connection, "run-1").status
        assert status == states.FAILED
        assert engine.asked == 2
    finally:
        scheduler.close()
        store.close()


class Planned(LocalEngine):
    """Keeps the plans that it is handed, and starts nothing."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.plans: list[Plan] = []

    def start(self, plan: Plan, manifest: bytes | None, gone: Gone) -> Handle:
        self.plans.append(plan)
        raise EngineError("nothing is started here")


def test_a_plan_tells_how_the_environment_of_a_run_is_built(home: Path) -> None:
    store = Store.open(home)
    name = "RUNYARD_SECRET_" + "a" * 32
    environment = {"name": "mine", "options": [f"--index-url https://${{{name}}}@host/simple"]}
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
        workspace_settings.put(connection, "local", "environments.relax", "true")
        workspace_settings.put(connection, "local", "environments.limit", "2GB")
        launch = {"command": "true", "environment": environment, "notes": ["a note"]}
        runs.create(connection, NewRun("run-1", "local", "trial", kind=SCRIPT, target="local", launch=launch))
    engine = Planned(home / "runs")
    around = Surroundings(
        home, lambda: "http://127.0.0.1:9", lambda run_id: "token", lambda: home / "sdk", {name: "me:pw"}.__getitem__
    )
    scheduler = Scheduler(store, {"local": engine}, around, lambda run_id, change: None)
    scheduler.start()
    try:
        deadline = time.monotonic() + DEADLINE
        while not engine.plans and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        scheduler.close()
        store.close()
    plan = engine.plans[0]
    assert (plan.relax, plan.environments_limit) == (True, 2 * 10**9)
    assert plan.environments == str(home / "environments")
    assert plan.secrets == {name: "me:pw"}
    assert plan.launch.environment == environment
    assert plan.launch.notes == ["a note"]
