"""Versions of an endpoint: their shares, and that a change of one leaves the others as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.broken_services import BASE, deploy, launch

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served


def test_versions_of_an_endpoint(client: Client) -> None:
    deploy(client, "many", kind="endpoint", version_name="blue", traffic_percentile=20)
    body = {"launch": launch(client), "traffic_percentile": 90}
    client.call("POST", f"{BASE}/many/versions/green", body)
    assert client.call("POST", f"{BASE}/many/versions/green", body).code == "service_exists"
    refused = client.call("POST", f"{BASE}/many/versions/red", {**body, "traffic_percentile": 20})
    assert "110 %" in refused.json["title"]
    assert client.call("POST", f"{BASE}/many/versions/r", body).code == "bad_name"
    assert client.call("DELETE", f"{BASE}/many/versions/blue").code == "invalid_service"
    assert client.call("PATCH", f"{BASE}/many/versions/none", {}).code == "version_not_found"
    changed = client.ok("PATCH", f"{BASE}/many/versions/green", {"is_default": True, "traffic_percentile": 5})
    assert {each["name"]: (each["default"], each["traffic"]) for each in changed["versions"]} == {
        "blue": (False, 20.0),
        "green": (True, 5.0),
    }
    client.ok("DELETE", f"{BASE}/many")


def workers(service: Any) -> dict[int, int]:
    """Of each revision."""
    return {each["number"]: each["settings"]["workers"] for each in service["revisions"]}


def test_a_version_keeps_its_settings_when_something_else_of_it_is_changed(served: Served) -> None:
    """Otherwise a shift of the requests would bring up other processes, with the settings of another version."""
    client = served.client
    served.app.state.context.scheduler.services.close()  # what is wanted is looked at, and nothing is started
    deploy(client, "many", kind="endpoint", version_name="blue", traffic_percentile=20, settings={"workers": 1})
    client.ok("POST", f"{BASE}/many/versions/green", {"launch": launch(client), "settings": {"workers": 2}})
    green = f"{BASE}/many/versions/green"
    assert workers(client.ok("PATCH", green, {"traffic_percentile": 10})) == {1: 1, 2: 2}
    changed = client.ok("PATCH", green, {"settings": {"concurrency": 3}})
    assert (workers(changed), changed["settings"]["workers"]) == ({1: 1, 2: 2, 3: 2}, 1)
    first = client.ok("PATCH", green, {"is_default": True})
    assert (workers(first), first["settings"]["workers"]) == ({1: 1, 2: 2, 3: 2}, 2)
    assert workers(client.ok("PATCH", f"{BASE}/many", {"description": "x"})) == {1: 1, 2: 2, 3: 2}
    scaled = client.ok("PATCH", green, {"settings": {"replicas": 2}})
    scaled = client.ok("PATCH", f"{BASE}/many/versions/blue", {"settings": {"replicas": 2}})
    assert {each["name"]: each["replicas"] for each in scaled["versions"]} == {"blue": 2, "green": 2}
    assert len(scaled["revisions"]) == 3
