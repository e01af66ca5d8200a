"""However a run ends, the server knows: completed, failed with the error, canceled, or killed."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.sdk.run.interactive_run import begin

from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run
from runyard.sdk.workspace.workspace import Workspace


def test_the_ends_of_a_with_block(experiment: Experiment) -> None:
    with begin(experiment) as left:
        sys.exit(0)
    assert left.get_status() == "Completed"
    with pytest.raises(ValueError, match="boom"), begin(experiment) as failed:
        raise ValueError("boom")
    error = failed.get_details()["error"]
    assert failed.get_status() == "Failed"
    assert (error["exception"]["type"], error["exception"]["message"]) == ("ValueError", "boom")
    assert error["exception"]["frames"][-1]["code"] == 'raise ValueError("boom")'
    assert error["error"]["message"] == "ValueError: boom"
    with pytest.raises(SystemExit), begin(experiment) as exited:
        sys.exit(3)
    assert exited.get_status() == "Failed"


def test_fail_and_cancel(experiment: Experiment) -> None:
    run = begin(experiment)
    with pytest.raises(TypeError):
        run.fail(error_details=3)  # type: ignore[arg-type]
    run.fail("out of luck", error_code="Mine")
    assert run.status == "Failed"
    assert (run.get_details()["error"]["code"], run.get_details()["error"]["message"]) == ("Mine", "out of luck")
    canceled = begin(experiment)
    canceled.cancel()
    assert canceled.get_status() == "Canceled"


def test_a_process_that_dies_leaves_its_metrics_and_a_failed_run(workspace: Workspace, experiment: Experiment) -> None:
    script = (
        "import os, signal\n"
        "from runyard.sdk.workspace.workspace import Workspace\n"
        "from runyard.sdk.experiment import Experiment\n"
        f"run = Experiment(Workspace.from_config(), {experiment.name!r}).start_logging(snapshot_directory=None)\n"
        "for i in range(1000): run.log('i', i)\n"
        "print(run.id, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    died = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert died.returncode == -9, died.stderr
    run = Run.get(workspace, died.stdout.strip())
    details = run.wait_for_completion(raise_on_error=False)
    assert details["status"] == "Failed"
    assert "ended without completing" in details["error"]["message"]
    assert run.get_metrics() == {"i": list(range(1000))}
