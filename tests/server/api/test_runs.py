from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.server.conftest import on_both_databases
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from tests.server.conftest import Client

SCRIPT = {"workspace": "local", "experiment": "trial", "kind": "script", "launch": {"command": "true"}}
FIELDS = {
    *("id", "number", "workspace", "experiment", "experiment_id", "parent_id", "root_id", "type", "name"),
    *("display_name", "description", "status", "reason", "target", "created_at", "started_at", "ended_at", "tags"),
    *("properties", "submitted_by", "snapshot_id", "error", "warnings", "archived_at", "web_url", "nodes", "attempt"),
}


ENDED = ("Completed", "Failed", "Canceled")


def wait_for(client: Client, run_id: str, *statuses: str) -> Any:
    def reached() -> Any:
        run = client.ok("GET", f"/api/runs/{run_id}")
        return run if run["status"] in statuses else None

    return wait_until(reached, f"{run_id} to come to {statuses}")


def test_an_interactive_run_begins_in_running(client: Client) -> None:
    answer = client.call("POST", "/api/runs", {"workspace": "local", "experiment": "trial", "kind": "interactive"})
    assert answer.status == 201
    run = answer.json
    assert set(run) == FIELDS | {"token"}
    assert (run["number"], run["status"], run["root_id"]) == (1, "Running", run["id"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", run["started_at"])
    assert re.fullmatch(r"[0-9a-f-]{36}", run["id"])
    assert run["submitted_by"]
    assert run["token"].startswith(f"run.{run['id']}.")
    assert client.make_run()["number"] == 2


def test_a_run_that_is_not_to_start_yet_waits(client: Client) -> None:
    run = client.make_run(start=False)
    assert (run["status"], run["started_at"]) == ("NotStarted", None)
    client.ok("POST", f"/api/runs/{run['id']}/facts", {"fact": "started"})
    assert client.ok("GET", f"/api/runs/{run['id']}")["status"] == "Running"


@on_both_databases
def test_an_id_is_taken_once(client: Client) -> None:
    client.make_run(run_id="mine")
    answer = client.call("POST", "/api/runs", {**SCRIPT, "run_id": "mine"})
    assert (answer.status, answer.code) == (409, "run_exists")


@on_both_databases
def test_a_script_run_is_named_after_its_experiment_and_goes_to_its_end(client: Client) -> None:
    run = client.ok("POST", "/api/runs", SCRIPT)
    assert re.fullmatch(r"trial_\d{10}_[0-9a-f]{8}", run["id"])
    ended = wait_for(client, run["id"], *ENDED)
    assert (ended["status"], ended["error"]) == ("Completed", None)
    assert ended["launch"]["command"] == "true"
    statuses = [state["status"] for state in ended["states"]]
    assert statuses[0] == "NotStarted"
    assert statuses[-1] == "Completed"


def test_a_script_run_is_stopped_when_asked(client: Client) -> None:
    run = client.ok("POST", "/api/runs", {**SCRIPT, "launch": {"command": "sleep 600"}})
    wait_for(client, run["id"], "Running", *ENDED)
    client.ok("POST", f"/api/runs/{run['id']}/cancel")
    assert wait_for(client, run["id"], *ENDED)["status"] == "Canceled"


@on_both_databases
def test_runs_are_found_by_what_is_known_of_them(client: Client) -> None:
    first = client.make_run(tags={"lr": "0.1"}, properties={"git": "abc"})
    second = client.make_run(experiment="other", type="azureml.custom")
    child = client.make_run(kind="child", parent_id=first["id"], tags={"lr": "0.2"})
    grandchild = client.make_run(kind="child", parent_id=child["id"])
    client.end(second, "failed")

    def ids(query: str) -> list[str]:
        return [run["id"] for run in client.ok("GET", f"/api/runs?{query}")["runs"]]

    assert ids("") == [second["id"], first["id"]]
    assert ids("include_children=true") == [grandchild["id"], child["id"], second["id"], first["id"]]
    assert ids("workspace=local&experiment=trial") == [first["id"]]
    assert ids("workspace=nowhere") == []
    assert ids("type=azureml.custom") == [second["id"]]
    assert ids("status=Failed") == [second["id"]]
    assert ids("tag=lr") == [first["id"]]
    assert ids("tag=lr=0.2&include_children=true") == [child["id"]]
    assert ids("property=git=abc") == [first["id"]]
    assert ids(f"parent={first['id']}") == [child["id"]]
    assert ids(f"root={first['id']}") == [grandchild["id"], child["id"]]
    assert ids("target=local") == [second["id"], first["id"]]

    counted = {run["id"]: run["children"] for run in client.ok("GET", "/api/runs?children=true")["runs"]}
    assert counted == {first["id"]: {"Running": 1}, second["id"]: {}}
    assert client.ok("GET", f"/api/runs/{first['id']}?children=true")["children"] == {"Running": 1}
    assert "children" not in client.ok("GET", f"/api/runs/{first['id']}")


@on_both_databases
def test_a_long_list_comes_in_pages(client: Client) -> None:
    made = [client.make_run()["id"] for _ in range(5)]
    seen: list[str] = []
    cursor = ""
    while True:
        page = client.ok("GET", f"/api/runs?limit=2{cursor}")
        seen += [run["id"] for run in page["runs"]]
        if page["next"] is None:
            break
        cursor = f"&after={page['next']}"
    assert seen == made[::-1]


def test_tags_change_and_properties_stay(client: Client) -> None:
    run = client.make_run(tags={"a": "1"}, properties={"p": "1"})
    path = f"/api/runs/{run['id']}"
    changed = client.ok("PATCH", path, {"set_tags": {"b": None}, "remove_tags": ["a"], "add_properties": {"q": "2"}})
    assert (changed["tags"], changed["properties"]) == ({"b": None}, {"p": "1", "q": "2"})
    answer = client.call("PATCH", path, {"add_properties": {"p": "other"}})
    assert (answer.status, answer.code) == (409, "property_fixed")
    assert client.ok("PATCH", path, {"display_name": "new", "description": "d", "name": "n"})["display_name"] == "new"


def test_facts_lead_a_run_to_its_end(client: Client) -> None:
    run = client.make_run()
    path = f"/api/runs/{run['id']}"
    assert client.ok("POST", f"{path}/facts", {"fact": "heartbeat"}) == {"status": "Running"}
    assert client.ok("POST", f"{path}/facts", {"fact": "finalizing"}) == {"status": "Finalizing"}
    error = {"code": "UserError", "message": "it broke", "exit": {"code": 1}}
    at = run["started_at"]
    client.end(run, "failed", error=error, warnings=[{"source": "s", "message": "m"}], at=at)
    ended = client.ok("GET", path)
    assert (ended["status"], ended["error"], ended["reason"]) == ("Failed", error, "it broke")
    assert ended["warnings"] == [{"source": "s", "message": "m"}]
    assert ended["ended_at"] == at
    client.end(run, "failed", error=error)
    assert client.ok("GET", path) == ended


def test_an_end_before_the_start_is_now(client: Client) -> None:
    run = client.make_run()
    client.end(run, at="2026-01-02T03:04:05Z")
    assert client.ok("GET", f"/api/runs/{run['id']}")["ended_at"] >= run["started_at"]


def test_an_end_in_the_future_is_now(client: Client) -> None:
    run = client.make_run()
    client.end(run, at="2999-01-01T00:00:00Z")
    assert client.ok("GET", f"/api/runs/{run['id']}")["ended_at"] < "2999"


def test_facts_of_the_wrong_form_change_nothing(client: Client) -> None:
    run = client.make_run()
    facts: list[dict[str, Any]] = [{"fact": "ended"}, {"fact": "sunset"}, {}, {"fact": "started", "more": 1}]
    for fact in facts:
        assert client.call("POST", f"/api/runs/{run['id']}/facts", fact).status in (400, 422), fact
    assert client.ok("GET", f"/api/runs/{run['id']}")["status"] == "Running"


def test_cancel_ends_a_run_that_its_maker_leads_and_leaves_an_ended_one(client: Client) -> None:
    run = client.make_run()
    assert client.ok("POST", f"/api/runs/{run['id']}/cancel")["status"] == "Canceled"
    done = client.make_run()
    client.end(done)
    assert client.ok("POST", f"/api/runs/{done['id']}/cancel")["status"] == "Completed"


@on_both_databases
def test_deleting_takes_descendants_along_and_says_what_came_free(client: Client) -> None:
    run = client.make_run()
    child = client.make_run(kind="child", parent_id=run["id"])
    client.ok("PUT", f"/api/runs/{child['id']}/files/outputs/a", body=b"123")
    client.end(run)
    answer = client.call("DELETE", f"/api/runs/{run['id']}")
    assert (answer.status, answer.code) == (409, "run_active")
    client.end(child)
    assert client.ok("DELETE", f"/api/runs/{run['id']}") == {
        "runs": 2,
        "experiments": 0,
        "objects": 1,
        "bytes_freed": 3,
    }
    for each in (run, child):
        assert client.get(f"/api/runs/{each['id']}").code == "run_not_found"


def test_a_run_that_is_not_there_is_said_everywhere(client: Client) -> None:
    routes = [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/cancel"),
        ("POST", "/facts"),
        ("GET", "/events"),
        ("GET", "/files"),
        ("GET", "/files/a"),
        ("PUT", "/files/a"),
        ("POST", "/links"),
        ("POST", "/appends/a?offset=0"),
        ("POST", "/journals/w?offset=0"),
        ("GET", "/metrics"),
    ]
    values: dict[str, Any] = {"/facts": {"fact": "started"}, "/links": {"files": {"a": "0" * 64}}}
    for method, path in routes:
        value = {} if method == "PATCH" else values.get(path)
        answer = client.call(method, f"/api/runs/nowhere{path}", value)
        assert (answer.status, answer.code) == (404, "run_not_found"), (method, path)
        assert "nowhere" in answer.json["title"]


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ({"code": ["x"], "message": {"a": 1}}, {"code": '["x"]', "message": '{"a": 1}'}),
        ({"code": "c", "exception": "text", "exit": [1]}, {"code": "c"}),
        (
            {"exception": {"type": "T", "frames": [1, {"file": "f"}]}},
            {"exception": {"type": "T", "frames": [{"file": "f"}]}},
        ),
        ({"exception": {"frames": "all"}}, {"exception": {"frames": []}}),
    ],
)
def test_an_end_is_never_lost_because_its_error_has_another_form(client: Client, told: Any, kept: Any) -> None:
    run = client.make_run()
    client.end(run, "failed", error=told)
    assert client.ok("GET", f"/api/runs/{run['id']}")["error"] == kept
    assert client.get("/" + run["web_url"].split("/", 3)[3]).status == 200


def test_an_end_before_all_time_is_now(client: Client) -> None:
    run = client.make_run()
    client.end(run, at="0001-01-01T00:00:00+14:00")
    ended = client.ok("GET", f"/api/runs/{run['id']}")
    assert ended["ended_at"] >= ended["created_at"]


def test_the_longest_id_leaves_room_for_file_names_made_from_it(client: Client) -> None:
    assert client.call("POST", "/api/runs", {**SCRIPT, "run_id": "x" * 201}).code == "bad_name"
    run = client.ok("POST", "/api/runs", {**SCRIPT, "run_id": "x" * 200})
    wait_for(client, run["id"], "Completed")
    named = client.ok("POST", "/api/runs", {**SCRIPT, "experiment": "e" * 255})
    assert len(named["id"]) <= 200
    wait_for(client, named["id"], "Completed")
