"""A run that is narrowed to itself still delivers its outputs, and sees nothing else of its datastores."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.server.conftest import Client

STORES = "/api/workspaces/local/datastores"
STORE = f"{STORES}/workspaceblobstore"


def test_a_narrowed_run_reaches_its_outputs_and_no_more(client: Client) -> None:
    launch = {"command": "true", "outputs": [{"name": "prepared", "path": "out/{run-id}"}]}
    run = client.as_run(client.make_run(run_id="narrow_1", launch=launch))
    client.ok("PUT", f"{STORE}/content?path=other/a", body=b"1")
    client.ok("PUT", "/api/workspaces/local/settings/runs.scope", {"value": "run"})
    try:
        assert run.call("GET", STORE).status == 200
        assert run.call("PUT", f"{STORE}/content?path=out/narrow_1/a", body=b"1").status == 200
        assert run.call("GET", f"{STORE}/content?path=out/narrow_1/a").body == b"1"
        assert len(run.ok("GET", f"{STORE}/files?below=out/narrow_1")["files"]) == 1
        for path in ("content?path=other/a", "content?path=out/narrow_10/a", "files", "files?below=out"):
            assert run.call("GET", f"{STORE}/{path}").code == "not_allowed", path
        assert run.call("POST", f"{STORE}/login").code == "not_allowed"
        assert run.call("PUT", f"{STORE}/content?path=out/narrow_1/../x", body=b"1").code == "not_allowed"
        assert run.call("GET", f"{STORES}/workspacefilestore").code == "not_allowed"
    finally:
        client.ok("PUT", "/api/workspaces/local/settings/runs.scope", {"value": "workspace"})
    assert run.call("GET", f"{STORE}/content?path=other/a").status == 200


def test_a_narrowed_run_reads_the_databases_of_its_inputs(client: Client) -> None:
    for name in ("given", "other"):
        client.ok("POST", STORES, {"name": name, "kind": "sqlite", "settings": {"path": f"/x/{name}.db"}})
    read = {"format": "sql", "query": "SELECT 1", "timeout": 30}
    definition = {"kind": "tabular", "sources": [{"datastore": "given", "path": ""}], "read": read, "steps": []}
    dataset = client.ok("POST", "/api/workspaces/local/datasets", {"definition": definition})["id"]
    inputs = [{"name": "d", "dataset": dataset, "mode": "direct"}]
    run = client.as_run(client.make_run(launch={"command": "true", "inputs": inputs}))
    client.ok("PUT", "/api/workspaces/local/settings/runs.scope", {"value": "run"})
    try:
        assert run.ok("POST", f"{STORES}/given/login")["settings"] == {"path": "/x/given.db"}
        assert run.call("POST", f"{STORES}/other/login").code == "not_allowed"
    finally:
        client.ok("PUT", "/api/workspaces/local/settings/runs.scope", {"value": "workspace"})


def test_a_deleted_workspace_takes_its_own_files_along(client: Client) -> None:
    client.ok("POST", "/api/workspaces", {"name": "short", "subscription_id": "s", "resource_group": "r"})
    store = "/api/workspaces/short/datastores/workspaceblobstore"
    client.ok("PUT", f"{store}/content?path=a", body=b"1")
    client.ok("DELETE", "/api/workspaces/short")
    client.ok("POST", "/api/workspaces", {"name": "short", "subscription_id": "s", "resource_group": "r"})
    assert client.ok("GET", f"{store}/files")["files"] == []
