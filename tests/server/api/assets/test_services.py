"""The routes of services, over HTTP: what is shown of one, and to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.conftest import on_both_databases
from tests.support.broken_services import BASE, deploy, ended

if TYPE_CHECKING:
    from tests.server.conftest import Client


@on_both_databases
def test_a_service_that_fails_is_shown_with_its_cause_and_can_be_removed(client: Client) -> None:
    made = deploy(client, tags={"team": "a"}, settings={"cpu": 1})
    assert made.status == 202
    service = made.json
    assert (service["state"], service["operation"]["state"], service["kind"]) == ("Transitioning", "Running", "aci")
    assert service["scoring_uri"] == f"http://localhost:{service['port']}/score"
    assert service["revisions"][0]["entry_script"] == "score.py"
    assert deploy(client).code == "service_exists"
    failed = ended(client)
    assert (failed["state"], failed["operation"]["state"]) == ("Failed", "Failed")
    assert "KeyError" in failed["error"]["message"]
    assert "line 2" in failed["error"]["message"]
    assert "gone" in client.get(f"{BASE}/mine/logs").body.decode()
    assert [each["name"] for each in client.ok("GET", f"{BASE}?kind=aci&tag=team=a")["services"]] == ["mine"]
    assert client.ok("GET", f"{BASE}?tag=team=b")["services"] == []
    assert client.ok("GET", "/api/runs")["runs"] == [], "replicas are no runs that people look for"
    assert client.ok("GET", "/api/runs?services=true")["runs"] != []
    assert client.ok("GET", "/api/workspaces/local/experiments")["experiments"] == []
    client.ok("DELETE", f"{BASE}/mine")
    assert client.get(f"{BASE}/mine").code == "service_not_found"
    assert client.ok("GET", "/api/runs?services=true")["runs"] == []
