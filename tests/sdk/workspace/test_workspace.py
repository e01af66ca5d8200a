"""A script's first lines: which workspace it gets, and what it may ask of it."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from runyard.sdk.exceptions import UserErrorException, WorkspaceException
from runyard.sdk.workspace.workspace import Workspace


def new_name() -> str:
    return f"ws-{uuid.uuid4().hex[:12]}"


def test_without_a_config_it_is_the_local_workspace(workspace: Workspace) -> None:
    assert (workspace.name, workspace.resource_group, workspace.location) == ("local", "local", "local")
    assert not list(Path().iterdir()), "a config.json is written only when asked for"


def test_a_workspace_of_azure_is_made_on_first_use(workspace: Workspace) -> None:
    name = new_name()
    Path("config.json").write_text(
        json.dumps({"subscription_id": "my-sub", "resource_group": "my-group", "workspace_name": name})
    )
    made = Workspace.from_config()
    assert (made.name, made.subscription_id, made.resource_group) == (name, "my-sub", "my-group")
    assert Workspace.get(name).subscription_id == "my-sub"
    assert Workspace.from_config().get_details()["workspaceid"] == made.get_details()["workspaceid"]


def test_the_written_config_leads_back(workspace: Workspace) -> None:
    made = Workspace.create(new_name(), subscription_id="s", resource_group="g")
    made.write_config()
    assert Workspace.from_config().name == made.name
    assert "Server" not in json.loads(Path(".azureml/config.json").read_text())


def test_create_get_list_update_delete(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    name, subscription = new_name(), uuid.uuid4().hex
    with pytest.raises(WorkspaceException):
        Workspace.get(name)
    made = Workspace.create(name, subscription_id=subscription, friendly_name="Ours", tags={"team": "vision"})
    assert made.tags == {"team": "vision"}
    with pytest.raises(WorkspaceException, match="exist_ok=True") as refusal:
        Workspace.create(name)
    assert refusal.value.message.count("exist_ok") == 1, "the advice is given once"
    assert Workspace.create(name, exist_ok=True).get_details()["friendlyName"] == "Ours"
    assert made.update(description="models")["description"] == "models"
    assert list(Workspace.list(subscription)) == [name]
    made.delete()
    assert "bytes freed" in capsys.readouterr().out
    assert Workspace.list(subscription) == {}


@pytest.mark.parametrize("name", ["ab", "-abc", "a" * 34, "with space", ""])
def test_names_follow_the_rule(workspace: Workspace, name: str) -> None:
    with pytest.raises(UserErrorException, match="3 to 33"):
        Workspace.create(name)


def test_a_workspace_without_targets_lists_none(workspace: Workspace) -> None:
    assert workspace.compute_targets == {}


def test_its_id_is_where_code_of_sdk_v1_looks_for_it(workspace: Workspace) -> None:
    assert workspace._workspace_id == workspace.get_details()["workspaceid"]


def test_it_shows_itself(workspace: Workspace) -> None:
    assert repr(workspace) == (
        "Workspace.create(name='local', subscription_id='00000000-0000-0000-0000-000000000000', resource_group='local')"
    )
    assert "<table" in workspace._repr_html_()
