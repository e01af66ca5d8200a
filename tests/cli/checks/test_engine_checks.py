"""If these fail, a broken engine is not reported, or the report itself fails because of it.

The packages here are real ones, on the path of a real server and a real command.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Shell
from tests.support.engine_package import install_broken, install_example

from runyard.cli.checks import engine_checks


def test_clusters_that_are_away_are_warned_of() -> None:
    nobody = [{"code": "EngineAway", "message": "nobody answers at 10.0.0.1:6379"}]
    targets: Any = [{"name": "my-ray", "status": {"errors": nobody}}, {"name": "my-slurm", "status": {"errors": []}}]
    (away,) = engine_checks.away(targets)
    assert (away.name, away.verdict, away.message) == ("compute my-ray", "warn", nobody[0]["message"])
    assert "runyard compute show my-ray" in away.help


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site-packages"
    install_example(folder)
    install_broken(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


def test_an_engine_of_a_package_runs_a_run_beside_broken_ones_which_are_reported(
    fresh_shell: Shell, packages: Path
) -> None:
    shell = fresh_shell
    shell.json("up")
    made = shell.json("compute", "attach", "mine", "--engine", "processes", "--max-nodes", "2")
    assert (made["engine"], made["type"], made["options"]) == ("processes", "Processes", {})
    script = shell.script("import os; print('rank', os.environ['RANK'], 'of', os.environ['WORLD_SIZE'])")
    gang = ("--compute", "mine", "--nodes", "2", "--procs", "1", "--framework", "pytorch", "--backend", "gloo")
    command = ("submit", "--json", "-f", *gang, script)
    done = json.loads(shell.call(*command).stdout.splitlines()[-1])["run"]
    assert (done["status"], done["target"]) == ("Completed", "mine")
    logs = "".join(shell.call("logs", done["id"], "--rank", rank).stdout for rank in ("0", "1"))
    assert "rank 0 of 2" in logs
    assert "rank 1 of 2" in logs
    error = shell.refusal("compute", "attach", "bad", "--engine", "raising", expect=1)
    assert "'raising' of broken_raising 1.0 cannot be used" in error["title"]
    error = shell.refusal("compute", "attach", "bad", "--engine", "processes", "--option", "pyton=x", expect=1)
    assert "no option 'pyton'. Did you mean 'python'" in error["title"]
    report = [check for check in shell.json("doctor") if check["name"].startswith("engine ")]
    fine = {check["name"] for check in report if check["verdict"] == "ok"}
    assert {"engine local", "engine processes"} <= fine
    broken = {check["name"]: check["message"] for check in report if check["verdict"] == "warn"}
    assert {f"engine {name}" for name in ("missing", "raising", "leaving", "text", "slurm", "twice", "hollow")} <= {
        *broken
    }
    assert "no licence" in broken["engine raising"]


def test_a_target_whose_package_is_gone_harms_no_other(fresh_shell: Shell, packages: Path) -> None:
    shell = fresh_shell
    shell.json("up")
    shell.json("compute", "attach", "mine", "--engine", "processes")
    shell.json("down")
    (packages / "runyard_processes.py").write_text("raise ValueError('no licence')")
    shell.json("up")
    status = {target["name"]: target["status"]["errors"] for target in shell.json("compute", "ls")}
    assert status["local"] == []
    assert "no licence" in status["mine"][0]["message"]
    done = shell.call("submit", "--json", "-f", "--compute", "mine", shell.script("pass"), expect=1)
    failed = json.loads(done.stdout.splitlines()[-1])["run"]
    assert failed["error"]["code"] == "EngineError"
    assert shell.completed()["status"] == "Completed"
