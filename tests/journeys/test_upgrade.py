"""A home folder that a former version left, runs under way included, opens with this one as it is.

How the archives came to be: tests/journeys/homes/README.md.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import psutil
import pytest
from tests.journeys.conftest import Yard, closing

from azureml.core import Environment, Run
from azureml.core.compute import AmlCompute

pytestmark = pytest.mark.xdist_group("upgrade")  # one worker, so that one home serves all of them

ARCHIVES = sorted((Path(__file__).parent / "homes").glob("*.tar.xz"))


@dataclass(frozen=True)
class Upgraded:
    """A former version's home in use by this one."""

    yard: Yard
    made: dict[str, Any]  # what the maker of the home wrote down
    runner: subprocess.Popen[bytes]  # a node runner of the former version, alive

    def run(self, key: str) -> Run:
        return self.yard.workspace.get_run(self.made[key])

    def ended(self, key: str) -> Run:
        run = self.run(key)
        self.yard.wait(lambda: run.get_status() in ("Completed", "Failed", "Canceled"), f"{key} to end")
        return run


@pytest.fixture(scope="module", params=ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def upgraded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upgraded]:
    place = tmp_path_factory.mktemp("upgraded")
    with tarfile.open(request.param) as archive:
        archive.extractall(place)
    home = place / "home"
    made = json.loads((home / "made.json").read_text())
    for path in (*home.glob("runs/*/plan.json"), *home.glob("telemetry/*/ship.json")):
        path.write_text(path.read_text().replace(made["place"], str(place)))
    (left,) = home.glob("telemetry/*")
    left.rename(place / "left")  # out of the sight of clients, who would have it delivered by themselves
    (place / "alive").mkdir()
    (place / "alive" / "go").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNYARD_HOME", str(home))
        patch.chdir(place)
        with closing(Yard(home, place)) as yard:
            runner = start_former_runner(home, made["alive"])
            journal = home / "runs" / made["alive"] / "telemetry" / "journal"
            yard.wait(lambda: any(path.stat().st_size for path in journal.glob("*.jsonl")), "the script to log")
            assert yard.workspace.name == "local"  # which starts this version's server
            yield Upgraded(yard, made, runner)


def start_former_runner(home: Path, run_id: str) -> subprocess.Popen[bytes]:
    """Start a node runner with the code that the former server gave it, and store which one, as that server did."""
    folder = home / "runs" / run_id
    (folder / "streams").mkdir()
    plan = json.loads((folder / "plan.json").read_text())
    plan["launch"]["shell"]["PATH"] = str(Path(sys.executable).parent)
    (folder / "plan.json").write_text(json.dumps(plan))
    with (folder / "streams" / "runner.log").open("ab") as log:
        runner = subprocess.Popen(
            [sys.executable, "-I", "-S", f"{plan['sdk']}/runyard/node", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
        )
    handle = {"nodes": [{"pid": runner.pid, "created": psutil.Process(runner.pid).create_time()}]}
    with sqlite3.connect(home / "runyard.db") as database:
        changed = database.execute(
            "UPDATE launches SET handle = ? WHERE run = (SELECT serial FROM runs WHERE id = ?)",
            (json.dumps(handle), run_id),
        )
        assert changed.rowcount == 1
    database.close()
    return runner


def content(run: Run, name: str, tmp_path: Path) -> str:
    run.download_file(name, str(tmp_path / "content"))
    return (tmp_path / "content").read_text()


def test_runs_metrics_files_and_logs_are_there(upgraded: Upgraded, tmp_path: Path) -> None:
    run = upgraded.run("completed")
    assert run.get_status() == "Completed"
    metrics = run.get_metrics()
    assert metrics["loss"] == [1 / (step + 1) for step in range(20)]
    assert metrics["rates"] == [0.1, 0.01]
    assert metrics["scores"] == {"fold": [1, 2], "accuracy": [0.5, 0.75]}
    assert metrics["history"] == {"epoch": [1, 2], "accuracy": [0.5, 0.75]}
    assert metrics["note"] == "a text"
    assert run.get_tags()["stage"] == "done"
    assert run.get_properties()["data"] == "digits"
    assert content(run, "outputs/deep/model.txt", tmp_path) == "weights " * 1000
    assert content(run, "logs/notes.txt", tmp_path) == "a note"
    assert "trained\n" in run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"]
    (child,) = run.get_children()
    assert (child.get_status(), child.get_metrics()) == ("Completed", {"accuracy": 0.75})
    assert "train.py" in ZipFile(run.restore_snapshot(path=str(tmp_path))).namelist()

    failed = upgraded.run("failed")
    assert failed.get_status() == "Failed"
    assert "no such digit" in str(failed.get_details()["error"])
    interactive = upgraded.run("interactive")
    assert (interactive.get_status(), interactive.get_metrics()) == ("Completed", {"accuracy": 0.5})
    assert "no such digit" in content(interactive, "outputs/report.txt", tmp_path)


def test_environments_with_their_secrets_and_compute_targets_are_there(upgraded: Upgraded) -> None:
    workspace = upgraded.yard.workspace
    first, second = (Environment.get(workspace, "trees", version) for version in ("1", "2"))
    assert "scikit-learn==1.5.0" in first.python.conda_dependencies.pip_packages
    assert "index.example.org" not in str(first.python.conda_dependencies.serialize_to_string())
    assert "index.example.org" in str(second.python.conda_dependencies.serialize_to_string())
    assert [path.read_text() for path in (upgraded.yard.home / "secrets").iterdir()] == ["ana:word"]
    target = workspace.compute_targets["cpu-cluster"]
    assert isinstance(target, AmlCompute)
    assert target.scale_settings.maximum_node_count == 4


def test_a_run_whose_node_runner_lives_is_taken_up_and_completes(upgraded: Upgraded, tmp_path: Path) -> None:
    assert upgraded.runner.poll() is None, "the former node runner should be at work"
    assert upgraded.run("alive").get_status() == "Running"
    for name in ("more", "end"):
        (upgraded.yard.folder / "alive" / name).touch()
    assert upgraded.runner.wait(timeout=120) == 0
    run = upgraded.ended("alive")
    assert run.get_status() == "Completed"
    assert run.get_metrics()["loss"] == [float(step) for step in range(100)]
    log = run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"]
    assert log.splitlines() == [f"step {step}" for step in range(100)]
    assert content(run, "outputs/model.txt", tmp_path) == "weights"
    assert not (upgraded.yard.home / "runs" / run.id).exists()


def test_what_a_dead_node_runner_left_is_delivered(upgraded: Upgraded, tmp_path: Path) -> None:
    run = upgraded.ended("rescued")
    assert run.get_details()["error"]["error"]["code"] == "NodeRunnerLost"
    assert run.get_metrics()["loss"] == [float(step) for step in range(100)]
    log = run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"]
    assert log.splitlines() == [f"step {step}" for step in range(100)]
    assert content(run, "outputs/model.txt", tmp_path) == "weights"
    upgraded.yard.wait(lambda: not (upgraded.yard.home / "runs" / run.id).exists(), "the folder to be cleared")


def test_the_former_entry_point_delivers_an_interactive_run(upgraded: Upgraded) -> None:
    """A process that loaded Runyard before the upgrade starts the delivery by the name that it knows."""
    folder = upgraded.yard.folder / "left"
    done = subprocess.run([sys.executable, "-m", "runyard.node.ship", folder], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    run = upgraded.ended("led")
    assert run.get_details()["error"]["error"]["code"] == "OwnerLost"
    assert run.get_metrics()["loss"] == [1.0, 2.0]
    assert not folder.exists()


def test_a_new_run_beside_the_former_ones(upgraded: Upgraded) -> None:
    run = upgraded.yard.submit("from azureml.core import Run\nRun.get_context().log('loss', 3.0)\n")
    run.wait_for_completion()
    assert run.get_metrics() == {"loss": 3.0}
