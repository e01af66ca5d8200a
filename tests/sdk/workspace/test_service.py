"""Refusals come out as the exceptions that scripts for SDK v1 catch; the right server is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.client.http import ClientProblem
from runyard.sdk import exceptions
from runyard.sdk.experiment import Experiment
from runyard.sdk.workspace.service import find_service, problem_code, sdk_exception
from runyard.sdk.workspace.workspace import Workspace


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("run_not_found", 404, exceptions.UserErrorException),
        ("unknown_target", 422, exceptions.UserErrorException),
        ("client_too_old", 426, exceptions.UserErrorException),
        ("not_authenticated", 401, exceptions.AuthenticationException),
        ("workspace_not_found", 404, exceptions.WorkspaceException),
        ("snapshot_not_found", 404, exceptions.SnapshotException),
        ("internal", 500, exceptions.ServiceException),
        ("server_unreachable", 0, exceptions.ServiceException),
    ],
)
def test_each_refusal_has_its_exception(code: str, status: int, kind: type[exceptions.AzureMLException]) -> None:
    error = sdk_exception(ClientProblem(code, "What is wrong.", "What to do.", status))
    assert type(error) is kind
    assert "What is wrong." in error.message
    assert "What to do." in error.message
    if kind is not exceptions.ServiceException:
        assert problem_code(error) == code


def test_a_refused_token_is_said(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_SERVER", workspace.service.url)
    monkeypatch.setenv("RUNYARD_TOKEN", "wrong")
    with pytest.raises(exceptions.AuthenticationException):
        Workspace.from_config()


def test_a_server_elsewhere_needs_a_token(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_SERVER", "http://elsewhere:7420")
    with pytest.raises(exceptions.AuthenticationException, match="RUNYARD_TOKEN"):
        find_service()


def test_inside_a_run_the_token_is_the_runs_wherever_that_is(
    workspace: Workspace, server_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a script may do must not depend on whether its node sees the user's home folder."""
    run = Experiment(workspace, "inside").start_logging(snapshot_directory=None, outputs=False)
    token = str(run._cached()["token"])
    monkeypatch.setenv("AZUREML_RUN_ID", run.id)
    monkeypatch.setenv("AZUREML_RUN_TOKEN", token)
    monkeypatch.setenv("AZUREML_SERVICE_ENDPOINT", workspace.service.url)
    monkeypatch.setenv("RUNYARD_SERVER_FILE", str(server_home / "server.json"))
    for named in (None, "http://the-same-server-by-another-name"):  # in a config.json that came with the snapshot
        service = find_service(named)
        assert (service.client.locator.token, service.url) == (token, workspace.service.url)
    monkeypatch.setenv("AZUREML_ARM_WORKSPACE_NAME", workspace.name)
    assert Workspace.from_config().name == workspace.name
    with pytest.raises(exceptions.AuthenticationException, match="another"):
        Workspace("s", "r", "another")
    monkeypatch.setenv("RUNYARD_SERVER", workspace.service.url)
    monkeypatch.setenv("RUNYARD_TOKEN", str(workspace.service.client.locator.token))
    assert find_service().client.locator.token == workspace.service.client.locator.token
    run.complete()


def test_inside_a_run_its_workspace_is_the_one_that_no_file_names(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = Workspace.create("team-of-the-run", exist_ok=True)
    run = Experiment(team, "inside").start_logging(snapshot_directory=None, outputs=False)
    monkeypatch.setenv("AZUREML_RUN_ID", run.id)
    monkeypatch.setenv("AZUREML_RUN_TOKEN", str(run._cached()["token"]))
    monkeypatch.setenv("AZUREML_SERVICE_ENDPOINT", workspace.service.url)
    monkeypatch.setenv("AZUREML_ARM_WORKSPACE_NAME", team.name)
    assert Workspace.from_config().name == team.name
    run.complete()
