"""Experiments: made by their name, listed, tagged, archived, deleted for good."""

from __future__ import annotations

import uuid

import pytest

from runyard.sdk.exceptions import AzureMLException, UserErrorException
from runyard.sdk.experiment import Experiment, ViewType
from runyard.sdk.workspace.workspace import Workspace


def test_the_same_name_is_the_same_experiment(workspace: Workspace, experiment: Experiment) -> None:
    again = Experiment(workspace, experiment.name)
    assert again.id == experiment.id
    assert again == experiment
    assert workspace.experiments[experiment.name].id == experiment.id


@pytest.mark.parametrize("name", ["", "-x", "a b", "ü", "a" * 256, "a/b", None])
def test_names_follow_the_rule(workspace: Workspace, name: str) -> None:
    with pytest.raises(UserErrorException, match="1 to 255"):
        Experiment(workspace, name)


def test_tags(workspace: Workspace, experiment: Experiment) -> None:
    experiment.set_tags({"a": "1", "b": 2})
    experiment.tag("c")
    experiment.remove_tags(["a"])
    assert Experiment(workspace, experiment.name).tags == {"b": "2", "c": None}
    found = Experiment.list(workspace, experiment.name, tags={"b": "2"})
    assert [each.id for each in found] == [experiment.id]
    assert Experiment.list(workspace, experiment.name, tags="a") == []


def test_archive_and_reactivate(workspace: Workspace, experiment: Experiment) -> None:
    experiment.archive()
    assert experiment.archived_time is not None
    assert experiment.name not in workspace.experiments
    assert [each.id for each in Experiment.list(workspace, experiment.name, ViewType.ArchivedOnly)] == [experiment.id]
    new_name = f"test-{uuid.uuid4().hex[:12]}"
    experiment.reactivate(new_name)
    assert experiment.archived_time is None
    assert workspace.experiments[new_name].id == experiment.id


def test_delete_removes_runs_and_says_what_came_free(
    workspace: Workspace, experiment: Experiment, capsys: pytest.CaptureFixture[str]
) -> None:
    run = experiment.start_logging(snapshot_directory=None, outputs=False)
    run.log("a", 1)
    run.complete()
    Experiment.delete(workspace, experiment.id)
    assert "1 run," in capsys.readouterr().out
    with pytest.raises(UserErrorException):
        workspace.get_run(run.id)
    assert experiment.name not in workspace.experiments


def test_what_cannot_be_submitted_is_named(experiment: Experiment) -> None:
    with pytest.raises(AzureMLException, match="class dict cannot be submitted"):
        experiment.submit({})


def test_it_shows_itself(experiment: Experiment) -> None:
    assert experiment.name in repr(experiment)
    assert experiment.name in experiment._repr_html_()
    assert experiment.get_portal_url().startswith("http")
