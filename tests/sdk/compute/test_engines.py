"""A submit to this machine makes no request for the engine of its target."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sdk.compute.targets import cluster

from runyard.sdk.compute.engines import engine_of
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.workspace.workspace import Workspace


def test_a_submit_to_this_machine_asks_nothing_of_its_engine(
    workspace: Workspace, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster(workspace, name)
    asked: list[str] = []
    original = type(workspace.service).get

    def get(self: Any, path: str, *arguments: Any, **options: Any) -> Any:
        asked.append(path)
        return original(self, path, *arguments, **options)

    monkeypatch.setattr(type(workspace.service), "get", get)
    assert engine_of(workspace, "local") == "local"
    assert asked == []
    assert engine_of(workspace, name) == engine_of(workspace, name) == "local"
    assert asked == [f"/api/workspaces/local/compute/{name}"]
    with pytest.raises(UserErrorException, match="no compute target 'nowhere'"):
        engine_of(workspace, "nowhere")
