"""A run as an object: identity, equality, texts, and what this version lacks."""

from __future__ import annotations

import uuid

import pytest
from tests.sdk.run.interactive_run import begin

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run
from runyard.sdk.workspace.workspace import Workspace


@pytest.mark.parametrize("run_id", [None, "", 3])
def test_a_run_needs_an_id(experiment: Experiment, run_id: object) -> None:
    with pytest.raises(UserErrorException, match=r"is no id of one\. experiment\.submit"):
        Run(experiment, run_id)  # type: ignore[arg-type]


def test_what_a_run_tells_of_itself(workspace: Workspace, experiment: Experiment) -> None:
    run_id = str(uuid.uuid4())
    run = begin(experiment, run_id=run_id, display_name="first")
    assert (run.id, run.number, run.display_name) == (run_id, 1, "first")
    run.display_name = "best"
    run.description = "the best so far"
    again = workspace.get_run(run_id)
    assert (again.display_name, again.description) == ("best", "the best so far")
    assert again == run
    assert (
        str(run) == f"Run(Experiment: {experiment.name},\nId: {run_id},\nType: azureml.interactive,\nStatus: Running)"
    )
    assert "<a href=" in run._repr_html_()
    assert run.get_portal_url().startswith("http")
    with pytest.raises(UserErrorException):
        begin(experiment, run_id=run_id)
    with pytest.raises(UserErrorException, match="1 to 200"):
        begin(experiment, run_id="../x")
    run.complete()
    details = run.get_details()
    assert set(details) >= {"runId", "status", "startTimeUtc", "endTimeUtc", "properties", "logFiles", "submittedBy"}
    assert "error" not in details


def test_what_this_version_lacks_says_so(experiment: Experiment) -> None:
    run = begin(experiment)
    with pytest.raises(UserErrorException, match="environment"):
        run.get_environment()
    run.complete()


def test_a_run_that_is_not_there(workspace: Workspace) -> None:
    with pytest.raises(UserErrorException, match="no-such-run"):
        Run.get(workspace, "no-such-run")
