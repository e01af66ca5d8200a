from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client

NEW = {"name": "research", "subscription_id": "s", "resource_group": "r"}


def test_the_local_workspace_is_there_from_the_first_start(client: Client) -> None:
    (local,) = client.ok("GET", "/api/workspaces")["workspaces"]
    assert local["name"] == local["resource_group"] == local["location"] == "local"
    assert local["subscription_id"] == "00000000-0000-0000-0000-000000000000"
    assert local == client.ok("GET", "/api/workspaces/local")
    assert local["created_at"].endswith("Z")


@on_both_databases
def test_a_workspace_is_made_changed_and_deleted(client: Client) -> None:
    made = client.ok("POST", "/api/workspaces", {**NEW, "tags": {"team": "a"}, "location": "here"})
    assert (made["name"], made["location"], made["tags"]) == ("research", "here", {"team": "a"})
    changed = client.ok("PATCH", "/api/workspaces/research", {"description": "ours", "tags": {"team": "b"}})
    assert (changed["description"], changed["tags"]) == ("ours", {"team": "b"})
    client.end(client.make_run(workspace="research"))
    freed = client.ok("DELETE", "/api/workspaces/research")
    assert (freed["runs"], freed["experiments"]) == (1, 1)
    assert client.get("/api/workspaces/research").code == "workspace_not_found"


@on_both_databases
def test_a_name_is_taken_once_unless_that_is_fine(client: Client) -> None:
    client.ok("POST", "/api/workspaces", NEW)
    answer = client.call("POST", "/api/workspaces", NEW)
    assert (answer.status, answer.code) == (409, "workspace_exists")
    assert client.ok("POST", "/api/workspaces", {**NEW, "exist_ok": True})["name"] == "research"


def test_names_follow_the_rule(client: Client) -> None:
    assert client.call("POST", "/api/workspaces", {**NEW, "name": "ab"}).code == "bad_name"


def test_a_workspace_with_a_run_that_goes_on_stays(client: Client) -> None:
    client.ok("POST", "/api/workspaces", NEW)
    client.make_run(workspace="research")
    answer = client.call("DELETE", "/api/workspaces/research")
    assert (answer.status, answer.code) == (409, "run_active")
    assert client.get("/api/workspaces/research").status == 200
