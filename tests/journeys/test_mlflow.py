"""MLflow in a run that names no tracking address: the user hears that what it logs is not kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runyard.sdk.run.run import Run

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard


def warnings_of(run: Run) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = run.get_details().get("warnings", [])
    return told


def test_what_is_logged_to_mlflow_is_not_lost_without_a_word(shared_yard: Yard) -> None:
    waits = """
        import os, time
        if os.environ.get('NEVER'):
            import mlflow
        while not os.path.exists('outputs/go'): time.sleep(0.02)
    """
    going = shared_yard.submit(waits)
    # A library that logs by itself, as transformers does: the script does not name it, only its traces show.
    silent = shared_yard.submit("name = 'ml' + 'flow'; __import__(name).log_metric('loss', 0.5)")
    shared_yard.wait(lambda: warnings_of(going), "a warning while the run goes on")
    assert going.get_status() == "Running"
    (early,) = warnings_of(going)
    assert early["message"].startswith("train.py imports mlflow, and no tracking address is named.")
    going.cancel()
    going.wait_for_completion()
    assert warnings_of(going) == [early], "it is said once"

    assert silent.wait_for_completion()["status"] == "Completed"
    (late,) = warnings_of(silent)
    assert late["message"].startswith("The run has logged to MLflow")
    assert "MLFLOW_TRACKING_URI" in late["message"]
    for run in (going, silent):
        shown = subprocess.run(
            [Path(sys.executable).parent / "runyard", "show", run.id], capture_output=True, text=True, check=True
        )
        assert "Warning: " in shown.stdout


def test_mlflow_with_an_address_of_its_own_is_left_alone(shared_yard: Yard) -> None:
    script = """
        import mlflow
        mlflow.set_tracking_uri('sqlite:///outputs/mlflow.db')
        mlflow.log_metric('loss', 0.5)
    """
    run = shared_yard.submit(script)
    assert run.wait_for_completion()["status"] == "Completed"
    assert warnings_of(run) == []
    assert "outputs/mlflow.db" in run.get_file_names(), "what the warning advises is kept"
