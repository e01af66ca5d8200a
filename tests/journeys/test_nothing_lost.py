"""Kill anything: what the script has written is in the run's history, and the run's state is true."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from azureml.core import Run
from runyard.client.server_process import stop_server

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

KILLS_ITSELF = """
import os, signal, sys
from azureml.core import Run
run = Run.get_context()
os.makedirs('outputs', exist_ok=True)
with open('outputs/checkpoint.bin', 'wb') as f:
    f.write(b'x' * 100_000)
for step in range(5000):
    run.log('loss', step / 3)
    print('step', step)
sys.stdout.write('no newline at the end')
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""

STEPS_UNTIL_TOLD = """
import os, sys, time
from azureml.core import Run
run = Run.get_context()
os.makedirs('outputs', exist_ok=True)
step = 0
while not os.path.exists(sys.argv[1]):
    run.log('loss', float(step))
    print('step', step)
    step += 1
    if step == 100:
        open(sys.argv[1] + '.begun', 'w').close()
    time.sleep(0.001)
run.tag('steps', str(step))
with open('outputs/steps.txt', 'w') as f:
    f.write(str(step))
run.upload_file('extra/steps.txt', 'outputs/steps.txt')
"""


def log_of(run: Run) -> str:
    return str(run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"])


def assert_whole(run: Run) -> None:
    """Every step that the script wrote is there, in order, in metrics, log, outputs and tags."""
    details: dict[str, Any] = run.get_details()
    assert details["status"] == "Completed", details
    steps = int(run.get_tags()["steps"] or 0)
    assert steps > 100
    assert run.get_metrics("loss")["loss"] == [float(step) for step in range(steps)]
    assert log_of(run).splitlines() == [f"step {step}" for step in range(steps)]
    assert {"outputs/steps.txt", "extra/steps.txt"} <= set(run.get_file_names())


def test_a_script_killed_by_sigkill(yard: Yard, tmp_path: Path) -> None:
    run = yard.submit(KILLS_ITSELF)
    details = run.wait_for_completion(raise_on_error=False)
    assert details["status"] == "Failed"
    assert details["error"]["error"]["code"] == "UserError"
    assert "SIGKILL" in str(details["error"])
    assert run.get_metrics()["loss"] == [step / 3 for step in range(5000)]
    assert log_of(run) == "".join(f"step {step}\n" for step in range(5000)) + "no newline at the end"
    run.download_file("outputs/checkpoint.bin", str(tmp_path / "checkpoint.bin"))
    assert (tmp_path / "checkpoint.bin").read_bytes() == b"x" * 100_000


def test_a_server_killed_in_the_middle_and_started_again(yard: Yard, tmp_path: Path) -> None:
    tell = tmp_path / "end"
    run = yard.submit(STEPS_UNTIL_TOLD, tell)
    yard.wait((tmp_path / "end.begun").exists, "the script to begin")
    for _ in range(2):
        yard.wait(lambda: len(run.get_metrics("loss").get("loss", [])) > 50, "metrics to arrive")
        yard.kill_server()
        assert yard.processes("train.py"), "the script goes on without a server"
        assert yard.workspace.get_run(run.id).get_status() == "Running"  # this client starts a new server
    tell.touch()
    run.wait_for_completion()
    assert_whole(run)


def test_a_server_that_comes_back_after_the_script_has_ended(yard: Yard, tmp_path: Path) -> None:
    tell = tmp_path / "end"
    run = yard.submit(STEPS_UNTIL_TOLD, tell)
    yard.wait((tmp_path / "end.begun").exists, "the script to begin")
    yard.kill_server()
    tell.touch()
    yard.wait(lambda: not yard.processes("train.py"), "the script to end")
    run.wait_for_completion()
    assert_whole(run)


def test_a_node_runner_killed_in_the_middle(yard: Yard, tmp_path: Path) -> None:
    run = yard.submit(STEPS_UNTIL_TOLD, tmp_path / "never")
    yard.wait((tmp_path / "never.begun").exists, "the script to begin")
    runner = yard.runner_of(run)
    os.kill(runner.pid, signal.SIGKILL)
    details = run.wait_for_completion(raise_on_error=False)
    assert details["status"] == "Failed"
    assert details["error"]["error"]["code"] == "NodeRunnerLost"
    assert not yard.processes("train.py"), "the script must not go on alone"
    values = run.get_metrics("loss")["loss"]
    assert values == [float(step) for step in range(len(values))]
    lines = log_of(run).splitlines()
    assert len(values) >= 100
    assert abs(len(lines) - len(values)) <= 1
    assert lines == [f"step {step}" for step in range(len(lines))]


def test_server_and_node_runner_killed_together(yard: Yard, tmp_path: Path) -> None:
    run = yard.submit(STEPS_UNTIL_TOLD, tmp_path / "never")
    yard.wait((tmp_path / "never.begun").exists, "the script to begin")
    runner = yard.runner_of(run)
    yard.kill_server()
    os.kill(runner.pid, signal.SIGKILL)
    details = run.wait_for_completion(raise_on_error=False)
    assert details["status"] == "Failed"
    assert details["error"]["error"]["code"] == "NodeRunnerLost"
    values = run.get_metrics("loss")["loss"]
    assert len(values) >= 100
    assert values == [float(step) for step in range(len(values))]


def test_an_interactive_process_killed_by_sigkill(yard: Yard) -> None:
    script = """
import os, signal
from azureml.core import Workspace, Experiment
run = Experiment(Workspace.from_config(), 'interactive').start_logging(snapshot_directory=None)
print(run.id, flush=True)
for step in range(3000):
    run.log('loss', step)
os.kill(os.getpid(), signal.SIGKILL)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert said.returncode == -signal.SIGKILL, said.stderr
    run = yard.workspace.get_run(said.stdout.strip())
    details = run.wait_for_completion(raise_on_error=False)
    assert details["status"] == "Failed"
    assert "without completing it" in str(details["error"])
    assert run.get_metrics()["loss"] == list(range(3000))


@pytest.mark.parametrize("victim", ["server", "runner"])
def test_no_process_outlives_its_run(yard: Yard, tmp_path: Path, victim: str) -> None:
    script = """
        import os, subprocess, sys, time
        subprocess.Popen(['sleep', '600'], start_new_session=True)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp('sleep', ['sleep', '601'])
            os._exit(0)
        open(sys.argv[1], 'w').close()
        time.sleep(600)
    """
    run = yard.submit(script, tmp_path / "begun")
    yard.wait((tmp_path / "begun").exists, "the script to begin")
    if victim == "server":
        yard.kill_server()
        run.cancel()
    else:
        runner = yard.runner_of(run)
        runner.kill()
    run.wait_for_completion(raise_on_error=False, wait_post_processing=True)
    assert run.get_status() == ("Canceled" if victim == "server" else "Failed")
    left = yard.processes("sleep", "train.py")
    assert not [p for p in left if p.status() != psutil.STATUS_ZOMBIE]


def test_the_same_story_on_postgresql(
    yard: Yard, postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNYARD_DATABASE_URL", postgresql_url)
    tell = tmp_path / "end"
    run = yard.submit(STEPS_UNTIL_TOLD, tell)
    yard.wait((tmp_path / "end.begun").exists, "the script to begin")
    yard.kill_server()
    assert yard.workspace.get_run(run.id).get_status() in ("Preparing", "Running")
    tell.touch()
    run.wait_for_completion()
    assert_whole(run)
    assert not (yard.home / "runyard.db").exists()
    stop_server(yard.home)  # before its database goes
