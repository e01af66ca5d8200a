"""Changes of services: what makes a revision and what does not, who keeps what, and what is refused."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from tests.support.broken_services import BASE, deploy, ended, launch

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served


def test_a_port_that_is_taken_is_refused_with_who_has_it(client: Client) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        answer = deploy(client, settings={"port": taken.getsockname()[1]})
    assert answer.code == "port_taken"
    assert "process" in answer.json["title"]


def test_keys_are_told_to_the_user_alone_and_only_where_there_are_some(client: Client) -> None:
    deploy(client, settings={"authentication": "key"})
    keys = client.ok("GET", f"{BASE}/mine/keys")
    assert len({keys["primary"], keys["secondary"]}) == 2
    given = client.ok("POST", f"{BASE}/mine/keys", {"key": "Secondary", "value": "a-key-of-my-own-1234"})
    assert given == {"primary": keys["primary"], "secondary": "a-key-of-my-own-1234"}
    assert client.call("POST", f"{BASE}/mine/keys", {"key": "Secondary", "value": "short"}).status == 400
    assert client.call("POST", f"{BASE}/mine/token").code == "invalid_service"
    assert "a-key-of-my-own" not in client.get(f"{BASE}/mine").body.decode()
    ended(client)
    client.ok("DELETE", f"{BASE}/mine")
    deploy(client, "tokens", settings={"authentication": "token"})
    token = client.ok("POST", f"{BASE}/tokens/token")
    assert token["refresh_by"] < token["expires_at"]
    assert client.get(f"{BASE}/tokens/keys").code == "invalid_service"
    ended(client, "tokens")
    client.ok("DELETE", f"{BASE}/tokens")


def test_changes_that_make_no_revision_and_such_that_are_refused(client: Client) -> None:
    deploy(client)
    ended(client)
    changed = client.ok("PATCH", f"{BASE}/mine", {"tags": {"a": "b"}, "description": "x", "properties": {"p": "q"}})
    assert (changed["tags"], changed["description"], len(changed["revisions"])) == ({"a": "b"}, "x", 1)
    assert client.call("PATCH", f"{BASE}/mine", {"properties": {"p": "other"}}).code == "property_fixed"
    assert client.call("PATCH", f"{BASE}/mine", {"settings": {"port": 1234}}).code == "invalid_service"
    assert client.call("POST", f"{BASE}/mine/scale", {"replicas": 0}).code == "invalid_service"
    assert client.call("POST", f"{BASE}/mine/rollback").code == "no_former_revision"
    assert client.call("POST", f"{BASE}/mine/versions/blue", {}).code == "invalid_service"
    renewed = client.ok("PATCH", f"{BASE}/mine", {"settings": {"workers": 2}})
    assert [each["number"] for each in renewed["revisions"]] == [2, 1]
    ended(client)
    client.ok("DELETE", f"{BASE}/mine")


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


def test_no_version_of_an_endpoint_goes_on_without_the_key_that_is_asked_for(served: Served) -> None:
    client = served.client
    served.app.state.context.scheduler.services.close()  # what is wanted is looked at, and nothing is started
    deploy(client, "open", kind="endpoint", version_name="blue", settings={"authentication": "none", "workers": 1})
    client.ok("POST", f"{BASE}/open/versions/green", {"launch": launch(client), "settings": {"workers": 2}})
    closed = client.ok("PATCH", f"{BASE}/open", {"settings": {"authentication": "key"}})
    newest = {each["version_name"]: each["settings"] for each in reversed(closed["revisions"])}
    assert {name: each["authentication"] for name, each in newest.items()} == {"blue": "key", "green": "key"}
    assert (newest["green"]["workers"], closed["settings"]["workers"]) == (2, 1)
