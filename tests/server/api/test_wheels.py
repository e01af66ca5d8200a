from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from tests.server.conftest import on_both_databases

from runyard.contracts import pack

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served

NAME = "mine-1.0-py3-none-any.whl"
PATH = f"/api/workspaces/local/wheels/{NAME}"
CONTENT = b"PK" + bytes(5000)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def test_a_wheel_is_kept_under_an_address_with_its_hash(client: Client) -> None:
    assert client.get(PATH).code == "wheel_not_found"
    wheel = client.ok("PUT", PATH, body=CONTENT)
    assert wheel == {
        "name": NAME,
        "digest": DIGEST,
        "size": len(CONTENT),
        "address": f"runyard://wheels/{DIGEST}/{NAME}",
    }
    assert client.ok("GET", PATH) == wheel
    answer = client.call("PUT", PATH, body=b"other")
    assert (answer.status, answer.code) == (409, "wheel_exists")
    assert client.ok("PUT", f"{PATH}?exist_ok=true", body=b"other")["size"] == 5
    assert client.ok("GET", PATH)["size"] == 5


def test_only_wheels_are_kept_and_in_a_workspace(client: Client) -> None:
    assert client.call("PUT", "/api/workspaces/local/wheels/mine.zip", body=b"").code == "bad_name"
    assert client.call("PUT", f"/api/workspaces/nowhere/wheels/{NAME}", body=b"").code == "workspace_not_found"


@on_both_databases
def test_a_run_fetches_the_wheels_of_its_workspace(served: Served) -> None:
    client = served.client
    address = client.ok("PUT", PATH, body=CONTENT)["address"]
    with_it = served.stored_run(launch={"command": "true", "environment": {"pip": ["numpy", address]}})
    client.ok("POST", "/api/workspaces", {"name": "other", "subscription_id": "s", "resource_group": "r"})
    without = served.stored_run(launch={"command": "true"})
    elsewhere = served.stored_run(workspace="other", launch={"command": "true"})
    wanted = {"hashes": [DIGEST]}
    fetched = client.as_run(with_it).call("POST", "/api/objects/fetch", wanted)
    assert fetched.body == pack.header(DIGEST, len(CONTENT)) + CONTENT
    assert client.as_run(without).call("POST", "/api/objects/fetch", wanted).status == 200
    assert client.as_run(elsewhere).call("POST", "/api/objects/fetch", wanted).code == "not_allowed"
    client.ok("PUT", "/api/workspaces/local/settings/runs.scope", {"value": "run"})
    assert client.as_run(with_it).call("POST", "/api/objects/fetch", wanted).status == 200
    assert client.as_run(without).call("POST", "/api/objects/fetch", wanted).code == "not_allowed"


def test_a_run_cannot_fetch_another_object_by_calling_it_a_wheel(served: Served) -> None:
    client = served.client
    other = client.ok("PUT", f"/api/runs/{client.make_run()['id']}/files/a", body=b"secret")["hash"]
    environment = {"pip": [f"runyard://wheels/{other}/{NAME}"]}
    run = served.stored_run(launch={"command": "true", "environment": environment})
    assert client.as_run(run).call("POST", "/api/objects/fetch", {"hashes": [other]}).code == "not_allowed"
