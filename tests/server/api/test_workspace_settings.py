from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client

PATH = "/api/workspaces/local/settings"


@on_both_databases
def test_settings_are_shown_changed_and_set_back(client: Client) -> None:
    usual = {"environments.relax": "false", "environments.limit": "none", "runs.scope": "workspace"}
    usual |= {"data.limit": "50GB", "data.lazy-above": "10GB", "data.datastore": "workspaceblobstore"}
    usual |= {"environments.horovod": "layer", "runs.system-metrics": "true", "runs.event-files": "true"}
    usual |= {"data.map": "{}", "retention.logs": "none", "retention.series": "none"}
    before = {"settings": usual}
    assert client.ok("GET", PATH) == before
    changed = client.ok("PUT", f"{PATH}/environments.limit", {"value": "50 GB"})
    assert changed == {"settings": {**usual, "environments.limit": "50GB"}}
    assert client.ok("GET", PATH) == changed
    assert client.ok("DELETE", f"{PATH}/environments.limit") == before


def test_unknown_keys_and_values_are_refused(client: Client) -> None:
    answer = client.call("PUT", f"{PATH}/environments.colour", {"value": "red"})
    assert (answer.status, answer.code) == (400, "bad_setting")
    assert "environments.relax" in answer.json["help"]
    answer = client.call("PUT", f"{PATH}/environments.relax", {"value": "perhaps"})
    assert (answer.status, answer.code) == (400, "bad_setting")
    assert "true or false" in answer.json["help"]
    assert client.call("DELETE", f"{PATH}/environments.colour").code == "bad_setting"
    assert client.call("PUT", f"{PATH}/environments.relax", {}).code == "bad_request"
    assert client.get("/api/workspaces/nowhere/settings").code == "workspace_not_found"
