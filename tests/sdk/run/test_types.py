"""Run objects are of the class that their type calls for."""

from __future__ import annotations

from tests.sdk.run.interactive_run import begin

from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run
from runyard.sdk.workspace.workspace import Workspace


def test_a_type_of_ones_own(workspace: Workspace, experiment: Experiment) -> None:
    class Mine(Run):
        pass

    run = begin(experiment)
    run.complete()
    Run.add_type_provider("azureml.interactive", lambda experiment, document: Mine(experiment, document["id"]))
    try:
        assert type(Run.get(workspace, run.id)) is Mine
    finally:
        from runyard.sdk.run import types

        del types._factories["azureml.interactive"]
