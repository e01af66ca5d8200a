"""A run can be stopped, by its user or by its time limit, and says so."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from azureml.core import Experiment, Run
from azureml.exceptions import ActivityFailedException

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('here we stay', flush=True)
open(sys.argv[1], 'w').close()
time.sleep(600)
"""

POLITE = """
import signal, sys, time
from azureml.core import Run
run = Run.get_context()
def goodbye(*_):
    run.log('saved', 1)
    print('saved before the end', flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, goodbye)
open(sys.argv[1], 'w').close()
time.sleep(600)
"""


def test_cancel_ends_a_script_that_does_not_want_to(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNYARD_GRACE_SECONDS", "0.5")
    run = yard.submit(STUBBORN, tmp_path / "begun")
    yard.wait((tmp_path / "begun").exists, "the script to begin")
    run.cancel()
    run.wait_for_completion(wait_post_processing=True)  # Canceled does not raise
    assert run.get_status() == "Canceled"
    assert "here we stay" in run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"]
    assert not yard.processes("train.py")


def test_fail_ends_the_script_and_the_error_stays(shared_yard: Yard, tmp_path: Path) -> None:
    """`run.fail()` on a submitted run: its script has time to save, all that it wrote is there when the call returns,
    and what the user said is what the run tells."""
    run = shared_yard.submit(POLITE, tmp_path / "begun")
    shared_yard.wait((tmp_path / "begun").exists, "the script to begin")
    run.fail("the loss is not a number", error_code="Diverged")
    assert run.get_status() == "Failed"
    error = run.get_details()["error"]
    assert (error["code"], error["message"]) == ("Diverged", "the loss is not a number")
    assert not shared_yard.processes("train.py")
    assert run.get_metrics() == {"saved": 1}
    assert "saved before the end" in run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"]
    run.complete()  # and it stays so
    run.cancel()
    assert (run.get_status(), run.get_details()["error"]["code"]) == ("Failed", "Diverged")


def test_complete_ends_the_script_and_the_run_is_completed(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNYARD_GRACE_SECONDS", "0.5")
    run = yard.submit(STUBBORN, tmp_path / "begun")
    yard.wait((tmp_path / "begun").exists, "the script to begin")
    run.complete()
    assert run.get_status() == "Completed"
    assert "error" not in run.get_details()
    assert not yard.processes("train.py")


def test_a_run_that_was_failed_while_its_server_died_is_failed(yard: Yard, tmp_path: Path) -> None:
    """The server dies while the script takes its time to end: the next one knows how the run ends."""
    run = yard.submit(STUBBORN, tmp_path / "begun")  # with the usual grace: it is alive while the server dies
    yard.wait((tmp_path / "begun").exists, "the script to begin")
    body = {"outcome": "failed", "error": {"code": "Diverged", "message": "no"}}
    told = yard.workspace.service.post(f"/api/runs/{run.id}/end", body)
    assert told["status"] == "Finalizing"
    yard.kill_server()
    with pytest.raises(ActivityFailedException) as failed:
        run.wait_for_completion()
    assert failed.value.error is not None
    assert failed.value.error["code"] == "Diverged"
    assert not yard.processes("train.py")


def test_cancel_at_any_moment_after_submit(shared_yard: Yard) -> None:
    shared_yard.workspace  # noqa: B018 (the server is up before the first submit)
    for _ in range(6):
        run = shared_yard.submit("import time; time.sleep(600)")
        run.cancel()
        run.wait_for_completion(wait_post_processing=True)
        assert run.get_status() == "Canceled"


def test_a_run_has_the_shell_of_its_submitter_and_no_secret_of_the_server(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNYARD_TOKEN", "the operator's own token, known to nobody")
    yard.workspace  # noqa: B018 (starts the server)
    monkeypatch.setenv("PATH", f"/added/later:{os.environ['PATH']}")
    run = yard.submit("import os; print(dict(os.environ))")
    run.wait_for_completion()
    log = run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"]
    assert "/added/later" in log
    assert "known to nobody" not in log


def test_cancel_lets_a_script_save_first(shared_yard: Yard, tmp_path: Path) -> None:
    run = shared_yard.submit(POLITE, tmp_path / "begun")
    shared_yard.wait((tmp_path / "begun").exists, "the script to begin")
    run.cancel()
    run.wait_for_completion(wait_post_processing=True)
    assert run.get_status() == "Canceled"
    assert run.get_metrics() == {"saved": 1}
    assert "saved before the end" in run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"]


def test_a_time_limit_says_that_it_was_the_time_limit(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNYARD_GRACE_SECONDS", "0.5")
    run = yard.submit(STUBBORN, tmp_path / "begun", max_seconds=1)
    with pytest.raises(ActivityFailedException, match="max_run_duration_seconds"):
        run.wait_for_completion()
    assert run.get_details()["error"]["error"]["code"] == "MaxRunDurationExceeded"
    assert not yard.processes("train.py")


def test_a_run_that_waits_says_why_and_can_be_cancelled(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNYARD_LOCAL_RUNS", "1")
    first = yard.submit(POLITE, tmp_path / "begun")
    second, third = (yard.submit("print('hello')") for _ in range(2))
    yard.wait(lambda: second.get_status() == "Queued", "the second run to be queued")
    assert first.id in second.get_detailed_status()["details"]
    third.cancel()
    assert third.get_status() == "Canceled"
    first.cancel()
    assert second.wait_for_completion()["status"] == "Completed"


def test_a_parent_that_waits_for_its_children_gets_them(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_LOCAL_RUNS", "1")
    script = """
        from azureml.core import Run, ScriptRunConfig, Environment
        import os
        run = Run.get_context()
        os.makedirs('child')
        with open('child/train.py', 'w') as f:
            f.write("from azureml.core import Run; Run.get_context().log('born', True)")
        environment = Environment('here')
        environment.python.user_managed_dependencies = True
        child = run.submit_child(ScriptRunConfig('child', 'train.py', compute_target='local', environment=environment))
        child.wait_for_completion()
        with run.child_run('led') as led:
            led.log('led', 1)
        run.child_run('forgotten').log('left', 2)
    """
    run = yard.submit(script)
    run.wait_for_completion()
    assert run.get_status() == "Completed"
    children = list(run.get_children())
    assert len(children) == 3
    assert {child.get_status() for child in children} == {"Completed"}
    metrics = run.get_metrics(recursive=True)
    assert sorted(key for each in metrics.values() for key in each) == ["born", "led", "left"]


MANY = 120
"""Runs of which none may leave anything behind in the server: what one leaves is then seen, without a thousand."""


def test_many_short_runs_leave_nothing_behind(yard: Yard) -> None:
    experiment = Experiment(yard.workspace, "many")
    config = yard.config("")
    config.script = config.run_config.script = None

    def submit(numbers: range) -> list[Run]:
        runs = []
        for number in numbers:
            config.command = f"echo run {number}"
            runs.append(experiment.submit(config))
        for number, run in zip(numbers, runs, strict=True):
            assert run.wait_for_completion()["status"] == "Completed"
            if number % 50 == 0:
                assert run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"] == f"run {number}\n"
        yard.wait(lambda: not os.listdir(yard.home / "runs"), "the folders of ended runs to go")
        return runs

    server = psutil.Process(yard.server.pid)
    runs = submit(range(40))  # by now it has as many threads and connections as it ever needs at once
    files, threads = server.num_fds(), server.num_threads()
    runs += submit(range(40, MANY))
    assert len({run.id for run in runs}) == MANY
    assert [run.number for run in experiment.get_runs()] == list(range(MANY, 0, -1))
    yard.wait(lambda: server.num_fds() < files + MANY // 5, "its files to be closed")
    yard.wait(lambda: server.num_threads() < threads + MANY // 5, "its threads to end")
