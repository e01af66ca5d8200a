"""Models by HTTP: what a run wrote gets a name and a version, is found again, and can be fetched."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from tests.server.conftest import on_both_databases

from runyard.contracts import manifest, pack
from runyard.contracts.documents import ModelDocument

if TYPE_CHECKING:
    from tests.server.conftest import Client

PATH = "/api/workspaces/local/models"
TEXT = b"weights"


def run_with_files(client: Client, **request: Any) -> Any:
    run = client.make_run(**request)
    for name in ("outputs/model/w.bin", "outputs/model/conf/a.json"):
        client.call("PUT", f"/api/runs/{run['id']}/files/{name}", body=TEXT)
    return run


def of(run: Any, name: str = "m", **more: Any) -> dict[str, Any]:
    return {"name": name, "run_id": run["id"], "path": "outputs/model", **more}


@on_both_databases
def test_a_model_is_registered_changed_fetched_and_deleted(client: Client) -> None:
    run = run_with_files(client)
    resources = {"cpu": 1, "memory_in_gb": 0.5, "gpu": None}
    made = client.ok("POST", PATH, of(run, framework="TensorFlow", framework_version="2.0", tags={"a": "1"}))
    assert made.keys() == ModelDocument.__annotations__.keys()
    assert (made["id"], made["run_id"], made["experiment"]) == ("m:1", run["id"], "trial")
    assert (made["size"], made["files"], made["root"], made["unpack"]) == (2 * len(TEXT), 2, "model", True)
    assert client.ok("GET", f"/api/runs/{run['id']}")["models"] == ["m:1"]
    change = {"set_tags": {"b": "2"}, "resource_configuration": resources, "description": "d"}
    changed = client.ok("PATCH", f"{PATH}/m/latest", change)
    assert (changed["tags"], changed["description"]) == ({"a": "1", "b": "2"}, "d")
    assert changed["resource_configuration"] == resources
    assert client.ok("PATCH", f"{PATH}/m/1", {"description": None})["description"] is None
    assert client.ok("GET", f"{PATH}?tag=a=1&name=m&latest=true")["models"][0]["id"] == "m:1"
    listed = manifest.parse(client.get(f"{PATH}/m/1/manifest").body)
    assert (listed.id, [entry.path for entry in listed.entries]) == (
        made["tree"],
        ["model/conf/a.json", "model/w.bin"],
    )
    digest = hashlib.sha256(TEXT).hexdigest()
    assert client.call("POST", "/api/objects/fetch", {"hashes": [digest]}).body.endswith(TEXT)
    assert client.ok("GET", "/api/usage")["models"] == [
        {"workspace": "local", "name": "m", "versions": 1, "bytes": len(TEXT)}
    ]
    client.end(run)
    client.ok("DELETE", f"/api/runs/{run['id']}")
    assert client.ok("GET", f"{PATH}/m/1")["run_id"] == run["id"]
    assert client.ok("DELETE", f"{PATH}/m/1")["bytes_freed"] == len(TEXT)
    assert client.get(f"{PATH}/m/1").code == "model_not_found"


def test_a_snapshot_that_was_sent_becomes_a_model(client: Client) -> None:
    digest = hashlib.sha256(TEXT).hexdigest()
    listing = manifest.make([manifest.Entry("model.pt", digest=digest, size=len(TEXT))])
    body = {"name": "m", "snapshot_id": listing.id, "request": "0123456789abcdef"}
    assert client.call("POST", PATH, body).code == "snapshot_not_found"
    client.ok("POST", "/api/objects", body=pack.header(digest, len(TEXT)) + TEXT)
    client.ok("PUT", f"/api/snapshots/{listing.id}", body=listing.text)
    made = client.ok("POST", PATH, body)
    assert (made["root"], made["unpack"], made["run_id"], made["framework"]) == ("model.pt", False, None, "Custom")
    assert client.ok("POST", PATH, body) == made, "an answer that was lost can be asked for again"


def test_two_registrations_at_once_give_two_versions(client: Client) -> None:
    run = run_with_files(client)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: client.ok("POST", PATH, of(run))["version"], range(8)))
    assert sorted(made) == list(range(1, 9))


def test_a_run_registers_in_its_own_workspace_what_it_may_read(client: Client) -> None:
    run, other = run_with_files(client), run_with_files(client)
    own = client.as_run(run)
    digest = hashlib.sha256(TEXT).hexdigest()
    listing = manifest.make([manifest.Entry("m.pt", digest=digest, size=len(TEXT))])
    client.ok("PUT", f"/api/snapshots/{listing.id}", body=listing.text)
    made = own.ok("POST", PATH, {"name": "sent", "snapshot_id": listing.id})
    assert made["run_id"] == run["id"], "it is known which run has sent it"
    assert own.ok("POST", PATH, of(other))["run_id"] == other["id"]
    assert own.call("POST", "/api/objects/fetch", {"hashes": [digest]}).status == 200
    client.ok("POST", "/api/workspaces", {"name": "team", "subscription_id": "s", "resource_group": "g"})
    stranger = run_with_files(client, workspace="team")
    assert own.call("POST", PATH, of(stranger)).code == "not_allowed"
    assert own.call("POST", "/api/workspaces/team/models", of(stranger)).code == "not_allowed"
    client.ok("PUT", "/api/workspaces/local/settings/runs.scope", {"value": "run"})
    assert own.call("POST", PATH, of(run)).code == "not_allowed"
    assert own.get(f"{PATH}/sent/1").code == "not_allowed"


def test_wrong_requests_are_told_what_is_wrong(client: Client) -> None:
    run = run_with_files(client)
    wrong: dict[str, dict[str, Any]] = {
        "bad_name": of(run, "../x"),
        "model_path_not_found": of(run, path="outputs/none"),
        "run_not_found": {"name": "m", "run_id": "nowhere", "path": "x"},
        "dataset_not_found": of(run, sample_input_dataset="nowhere"),
        "snapshot_not_found": {"name": "m", "snapshot_id": "0" * 64},
    }
    for code, body in wrong.items():
        assert client.call("POST", PATH, body).code == code
    for body in (
        {"name": "m"},
        {"name": "m", "path": "x"},
        of(run, framework_version="1"),
        of(run, snapshot_id="0" * 64),
    ):
        assert client.call("POST", PATH, body).code == "bad_model"
    for body in (of(run, tags=["a"]), of(run, tags={"a": 1}), of(run, resource_configuration={"cpu": 0})):
        assert client.call("POST", PATH, body).code == "bad_request"
    assert client.get(f"{PATH}?limit=0").code == client.get(f"{PATH}/m/first").code == "bad_request"
    client.ok("POST", PATH, of(run, properties={"p": "1"}))
    assert client.call("PATCH", f"{PATH}/m/1", {"add_properties": {"p": "2"}}).code == "property_fixed"
    assert client.get(f"{PATH}/m/2").json["help"] == "Its latest one is 1."
    assert client.call("DELETE", f"{PATH}/m/latest").code == "bad_request"
    assert client.get(f"{PATH}/{'x' * 5000}/1").code == "model_not_found"
