"""Refusals come out as the exceptions that scripts for SDK v1 catch; the right server is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.sdk import exceptions
from runyard.sdk.client import ClientProblem
from runyard.sdk.service import find_service, problem_code, sdk_exception
from runyard.sdk.workspace import Workspace


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


def test_inside_a_run_on_this_machine_the_server_is_the_users_own(
    workspace: Workspace, server_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZUREML_RUN_ID", "some_run")
    monkeypatch.setenv("AZUREML_RUN_TOKEN", "run.some_run.x")
    monkeypatch.setenv("AZUREML_SERVICE_ENDPOINT", workspace.service.url)
    assert find_service().client.locator.token == "run.some_run.x"
    monkeypatch.setenv("RUNYARD_SERVER_FILE", str(server_home / "server.json"))
    assert find_service().client.locator.token == (server_home / "token").read_text().strip()
