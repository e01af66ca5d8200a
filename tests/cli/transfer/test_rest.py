"""A server that does not answer, or refuses, is named with what it has said."""

from __future__ import annotations

import pytest

from runyard.cli.errors import CommandError
from runyard.cli.transfer.rest import MlflowServer, Refusal


def test_refusals_and_servers_that_are_away(target: MlflowServer) -> None:
    with pytest.raises(Refusal, match="RESOURCE_DOES_NOT_EXIST") as refusal:
        target.call("GET", "runs/get", run_id="none")
    assert refusal.value.error == "RESOURCE_DOES_NOT_EXIST"
    with pytest.raises(Refusal, match="UNAUTHENTICATED"):
        MlflowServer(target.name, "Bearer wrong").experiments()
    with pytest.raises(CommandError, match="does not answer"):
        MlflowServer("http://127.0.0.1:9").experiments()
    assert [each.name for each in target.experiments()] == ["Default"]
    assert target.logged_models() == {}
