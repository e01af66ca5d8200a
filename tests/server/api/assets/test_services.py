"""The routes of services, over HTTP: what is refused, and with which words; what is shown, and to whom."""

from __future__ import annotations

import hashlib
import socket
from typing import TYPE_CHECKING, Any

import pytest
from tests.server.conftest import on_both_databases
from tests.support.waiting import wait_until

from runyard.contracts import pack
from runyard.contracts.manifest import FILE, Entry, make

if TYPE_CHECKING:
    from tests.server.conftest import Client

BASE = "/api/workspaces/local/services"
BROKEN = b"def init():\n    raise KeyError('gone')\n\ndef run(data):\n    return 1\n"


def launch(client: Client, script: bytes = BROKEN, name: str = "score.py") -> dict[str, Any]:
    """A script that cannot start, so that nothing is left when a test has ended."""
    digest = hashlib.sha256(script).hexdigest()
    manifest = make([Entry(name, FILE, digest, len(script))])
    client.ok("POST", "/api/objects", body=pack.header(digest, len(script)) + script)
    client.ok("PUT", f"/api/snapshots/{manifest.id}", body=manifest.text)
    return {"snapshot_id": manifest.id, "entry_script": name}


def deploy(client: Client, name: str = "mine", **more: Any) -> Any:
    body = {"name": name, "launch": launch(client), **more}
    return client.call("POST", BASE, body)


def ended(client: Client, name: str = "mine") -> Any:
    def found() -> Any:
        service = client.ok("GET", f"{BASE}/{name}?wait=10")
        return service if service["operation"]["state"] != "Running" else None

    return wait_until(found, "the end of the operation")


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


@pytest.mark.parametrize(
    ("body", "code", "told"),
    [
        ({"name": "No"}, "bad_name", "3 to 32"),
        ({"name": "mine"}, "invalid_service", "serves one model"),
        ({"name": "mine", "models": ["nothing:1"]}, "model_not_found", "nothing"),
        ({"name": "mine", "models": ["nothing:x"]}, "invalid_service", "name:version"),
        ({"name": "mine", "settings": {"workers": 0}}, "invalid_service", "workers"),
        ({"name": "mine", "settings": {"host": "0.0.0.0"}}, "invalid_service", "allow_unauthenticated"),
        ({"name": "mine", "launch": {"entry_script": "score.py"}}, "invalid_service", "snapshot_id"),
        ({"name": "mine", "launch": {"entry_script": "score.txt"}}, "invalid_service", ".py"),
        ({"name": "mine", "launch": {"snapshot_id": "0" * 64, "entry_script": "a.py"}}, "snapshot_not_found", "0000"),
        ({"name": "mine", "version_name": "blue"}, "invalid_service", "endpoint"),
    ],
)
def test_what_can_never_serve_is_refused_at_once(client: Client, body: Any, code: str, told: str) -> None:
    answer = client.call("POST", BASE, body)
    assert answer.code == code
    assert told in answer.json["title"] + answer.json["help"]
    assert client.ok("GET", BASE)["services"] == []


def test_a_script_that_is_not_in_the_folder_and_a_port_that_is_taken(client: Client) -> None:
    answer = deploy(client, launch={**launch(client), "entry_script": "other.py"})
    assert answer.code == "invalid_service"
    assert "score.py" in answer.json["title"]
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
