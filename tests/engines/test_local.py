"""If these fail, a node runner could be mistaken for another process, or leave its folder behind."""

from __future__ import annotations

import queue
import sys
from pathlib import Path

import pytest

from runyard.contracts.names import BadName
from runyard.contracts.plan import Launch, Plan
from runyard.engines.base import EngineError
from runyard.engines.local import LocalEngine
from runyard.engines.sdk_folder import sdk_folder

DEADLINE = 60.0


def plan_for(home: Path, run_id: str = "run-1", **launch: object) -> Plan:
    return Plan(
        run_id=run_id,
        root_run_id=run_id,
        experiment="e",
        experiment_id="i",
        workspace="local",
        subscription_id="s",
        resource_group="g",
        target="local",
        token="t",
        server_url="http://127.0.0.1:9",  # nobody listens there
        launch=Launch.from_dict({"interpreter": sys.executable, **launch}),
        sdk=str(sdk_folder(home)),
        grace_seconds=0.2,
    )


def test_a_runner_that_is_stopped_is_told_of_once_it_is_gone(home: Path, tmp_path: Path) -> None:
    engine, gone = LocalEngine(home / "runs"), queue.Queue[str]()
    touched = tmp_path / "touched"
    plan = plan_for(home, command=f"touch {touched}; sleep 600")
    handle = engine.start(plan, b"", lambda run_id, how: gone.put(run_id))
    assert engine.watch("run-1", handle, lambda run_id, how: gone.put(f"again {run_id}"))
    with pytest.raises(queue.Empty):
        gone.get_nowait()
    (home / "runs" / "run-1").rename(home / "elsewhere")  # a runner whose folder is gone ends by itself
    assert {gone.get(timeout=DEADLINE), gone.get(timeout=DEADLINE)} == {"run-1", "again run-1"}
    assert not engine.watch("run-1", handle, lambda run_id, how: None)
    engine.stop(handle)  # nobody is there: no harm


def test_another_process_with_the_same_id_is_left_alone(home: Path) -> None:
    engine = LocalEngine(home / "runs")
    mine = {"pid": 1, "created": 12345.0}
    assert not engine.watch("run-1", mine, lambda run_id, how: None)
    engine.stop(mine)


def test_nothing_to_rescue_without_a_plan(home: Path) -> None:
    assert LocalEngine(home / "runs").rescue("run-1", lambda run_id, how: None) is None


def test_a_run_id_is_never_a_way_out(home: Path) -> None:
    with pytest.raises(BadName):
        LocalEngine(home / "runs").rescue("../x", lambda run_id, how: None)


def test_a_folder_that_cannot_be_made_is_said_in_words(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "runs").write_text("in the way")
    with pytest.raises(EngineError, match="runs"):
        LocalEngine(home / "runs").start(plan_for(home, command="true"), b"", lambda run_id, how: None)
