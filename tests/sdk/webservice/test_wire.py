"""Requests about services: what the server refuses becomes SDK v1's exceptions."""

from __future__ import annotations

import pytest

from runyard.client.http import ClientProblem
from runyard.sdk.exceptions import AuthenticationException, ServiceException, WebserviceException
from runyard.sdk.webservice import wire
from runyard.sdk.workspace.workspace import Workspace


def test_a_service_that_is_not_there(workspace: Workspace) -> None:
    with pytest.raises(WebserviceException, match="WebserviceNotFound") as caught:
        wire.fetched(workspace, "nothing-here")
    assert wire.is_not_found(caught.value)
    assert caught.value.status_code == 404
    assert wire.found(workspace, "nothing-here") is None
    assert wire.listed(workspace, {"kind": "aks"}) == []


def test_a_model_that_is_not_there(workspace: Workspace) -> None:
    with pytest.raises(WebserviceException, match="ModelNotFound"):
        wire.created(workspace, {"name": "birds", "kind": "aci", "models": ["nothing:1"]})


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("service_exists", 409, WebserviceException),
        ("invalid_service", 422, WebserviceException),
        ("not_allowed", 403, AuthenticationException),
        ("database_full", 507, ServiceException),
    ],
)
def test_refusals(code: str, status: int, kind: type[Exception]) -> None:
    assert type(wire.refusal(ClientProblem(code, "It cannot be.", "Do that.", status))) is kind


def test_addresses_are_quoted() -> None:
    workspace = Workspace._known_as(None, "mine", "s", "g")  # type: ignore[arg-type]  # no request is made
    assert wire.address(workspace, "a b", "keys") == "/api/workspaces/mine/services/a%20b/keys"
