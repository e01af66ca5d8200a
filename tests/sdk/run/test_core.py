"""A handle to a run that is held outside it writes to a journal of its own."""

from __future__ import annotations

from tests.sdk.run.interactive_run import begin

from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run
from runyard.sdk.workspace.workspace import Workspace


def test_logging_into_a_run_from_outside(workspace: Workspace, experiment: Experiment) -> None:
    run = begin(experiment)
    run.complete()
    outside = Run.get(workspace, run.id)
    outside.log("later", 1)
    outside.flush()
    assert Run.get(workspace, run.id).get_metrics() == {"later": 1}
    assert run.get_status() == "Completed"
