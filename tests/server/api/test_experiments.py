from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served

PATH = "/api/workspaces/local/experiments"


def test_an_experiment_is_made_once(client: Client) -> None:
    made = client.ok("PUT", f"{PATH}/first")
    assert (made["workspace"], made["name"], made["tags"], made["archived_at"]) == ("local", "first", {}, None)
    assert client.ok("PUT", f"{PATH}/first") == made
    assert client.ok("GET", f"/api/experiments/{made['id']}") == made


@on_both_databases
def test_the_list_shows_the_newest_first_and_filters(client: Client) -> None:
    made = {name: client.ok("PUT", f"{PATH}/{name}") for name in ("one", "two", "three")}
    client.ok("PATCH", f"/api/experiments/{made['one']['id']}", {"set_tags": {"team": "a", "final": "yes"}})
    client.ok("PATCH", f"/api/experiments/{made['two']['id']}", {"archived": True})

    def names(query: str) -> list[str]:
        return [each["name"] for each in client.ok("GET", PATH + query)["experiments"]]

    assert names("") == ["three", "one"]
    assert names("?view=ArchivedOnly") == ["two"]
    assert names("?view=All") == ["three", "two", "one"]
    assert names("?name=one") == ["one"]
    assert names("?tag=team") == ["one"]
    assert names("?tag=team=a&tag=final=yes") == ["one"]
    assert names("?tag=team=b") == []


def test_tags_archive_and_name_change(client: Client) -> None:
    id = client.ok("PUT", f"{PATH}/before")["id"]
    path = f"/api/experiments/{id}"
    client.ok("PATCH", path, {"set_tags": {"a": "1", "b": "2"}})
    changed = client.ok("PATCH", path, {"remove_tags": ["a"], "archived": True, "name": "after"})
    assert (changed["tags"], changed["name"], changed["archived_at"] is not None) == ({"b": "2"}, "after", True)
    assert client.ok("PATCH", path, {"archived": False})["archived_at"] is None
    client.ok("PUT", f"{PATH}/other")
    assert client.call("PATCH", path, {"name": "other"}).code == "experiment_exists"
    assert client.call("PATCH", path, {"name": "!"}).code == "bad_name"


def test_what_is_not_there_is_said(client: Client) -> None:
    assert client.get("/api/experiments/nothing").code == "experiment_not_found"
    assert client.call("PUT", "/api/workspaces/nowhere/experiments/e").code == "workspace_not_found"


def test_an_archived_experiment_takes_no_new_run(client: Client) -> None:
    id = client.ok("PUT", f"{PATH}/old")["id"]
    client.ok("PATCH", f"/api/experiments/{id}", {"archived": True})
    answer = client.call("POST", "/api/runs", {"workspace": "local", "experiment": "old", "kind": "interactive"})
    assert (answer.status, answer.code) == (409, "experiment_archived")


@on_both_databases
def test_an_experiment_is_deleted_with_its_runs_once_they_have_ended(client: Client) -> None:
    run = client.make_run(experiment="gone")
    path = f"/api/experiments/{run['experiment_id']}"
    client.ok("PUT", f"/api/runs/{run['id']}/files/outputs/x", body=b"12345")
    assert client.call("DELETE", path).code == "experiment_active"
    client.end(run)
    assert client.ok("DELETE", path) == {"runs": 1, "experiments": 1, "objects": 1, "bytes_freed": 5}
    assert client.get(f"/api/runs/{run['id']}").code == "run_not_found"


def test_what_node_runners_have_left_goes_with_the_experiment_or_the_workspace(served_on_sqlite: Served) -> None:
    client, folder = served_on_sqlite.client, served_on_sqlite.settings.home / "runs"
    new = {"name": "research", "subscription_id": "s", "resource_group": "g"}
    client.ok("POST", "/api/workspaces", new)
    made = [client.make_run(experiment="gone"), client.make_run(workspace="research"), client.make_run()]
    for run in made:
        client.end(run)
        (folder / run["id"]).mkdir(parents=True)
    client.ok("DELETE", f"/api/experiments/{made[0]['experiment_id']}")
    client.ok("DELETE", "/api/workspaces/research")
    assert [path.name for path in folder.iterdir()] == [made[2]["id"]]
