"""Changes of services: what makes a revision and what does not, who keeps what, and what is refused."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

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


def test_no_version_of_an_endpoint_goes_on_without_the_key_that_is_asked_for(served: Served) -> None:
    client = served.client
    served.app.state.context.scheduler.services.close()  # what is wanted is looked at, and nothing is started
    deploy(client, "open", kind="endpoint", version_name="blue", settings={"authentication": "none", "workers": 1})
    client.ok("POST", f"{BASE}/open/versions/green", {"launch": launch(client), "settings": {"workers": 2}})
    closed = client.ok("PATCH", f"{BASE}/open", {"settings": {"authentication": "key"}})
    newest = {each["version_name"]: each["settings"] for each in reversed(closed["revisions"])}
    assert {name: each["authentication"] for name, each in newest.items()} == {"blue": "key", "green": "key"}
    assert (newest["green"]["workers"], closed["settings"]["workers"]) == (2, 1)
