"""What a client may ask for when it makes a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client

SCRIPT = {"workspace": "local", "experiment": "trial", "kind": "script", "launch": {"command": "true"}}


@on_both_databases
def test_all_that_was_asked_for_is_kept(client: Client) -> None:
    asked = {
        "run_id": "my.run-1",
        "type": "azureml.custom",
        "name": "n",
        "display_name": "d ☃",
        "description": "text",
        "tags": {"a": "1", "b": None},
        "properties": {"p": "q"},
        "definition": {"script": "train.py", "nested": {"list": [1, 2.5, None, "x"]}},
    }
    made = client.make_run(**asked)
    run = client.ok("GET", "/api/runs/my.run-1")
    assert {name: run[name] for name in asked if name != "run_id"} == {k: v for k, v in asked.items() if k != "run_id"}
    assert made["id"] == "my.run-1"
    assert [(state["status"], bool(state["reason"])) for state in run["states"]] == [("Running", True)]
    assert run["launch"] is None
    assert run["logs"] == []


def test_a_child_belongs_to_its_parents_experiment(client: Client) -> None:
    parent = client.make_run(experiment="family")
    child = client.make_run(kind="child", parent_id=parent["id"], experiment="elsewhere")
    assert (child["experiment"], child["parent_id"], child["root_id"]) == ("family", parent["id"], parent["id"])
    assert client.get("/api/workspaces/local/experiments?name=elsewhere").json["experiments"] == []


def test_what_cannot_run_is_refused_and_leaves_nothing(client: Client) -> None:
    cases: list[tuple[dict[str, Any], int, str]] = [
        ({"launch": None}, 422, "invalid_run"),
        ({"launch": {"script": "a.py", "command": "a"}}, 422, "invalid_run"),
        ({"launch": {}}, 422, "invalid_run"),
        ({"launch": {"script": "../a.py"}}, 400, "bad_name"),
        ({"launch": {"script": "a.py", "max_run_duration_seconds": 0}}, 400, "bad_request"),
        ({"launch": {"script": "a.py", "colour": "red"}}, 400, "bad_request"),
        ({"target": "moon"}, 422, "unknown_target"),
        ({"experiment": "!"}, 400, "bad_name"),
        ({"experiment": None}, 422, "invalid_run"),
        ({"workspace": "nowhere"}, 404, "workspace_not_found"),
        ({"run_id": "a/b"}, 400, "bad_name"),
        ({"snapshot_id": "0" * 64}, 404, "snapshot_not_found"),
        ({"snapshot_id": "x"}, 400, "bad_request"),
        ({"parent_id": "nobody"}, 404, "run_not_found"),
        ({"kind": "child"}, 422, "invalid_run"),
        ({"kind": "interactive", "parent_id": "nobody"}, 422, "invalid_run"),
        ({"kind": "other"}, 400, "bad_request"),
    ]
    for change, status, code in cases:
        answer = client.call("POST", "/api/runs", {**SCRIPT, **change})
        assert (answer.status, answer.code) == (status, code), change
    assert client.ok("GET", "/api/runs?include_children=true")["runs"] == []


def test_an_unknown_target_is_answered_with_those_that_there_are(client: Client) -> None:
    answer = client.call("POST", "/api/runs", {**SCRIPT, "target": "moon"})
    assert "local" in answer.json["help"]


def test_a_time_limit_that_no_clock_can_reach_is_refused(client: Client) -> None:
    launch = {"command": "true", "max_run_duration_seconds": 10**400}
    assert client.call("POST", "/api/runs", {**SCRIPT, "launch": launch}).code == "bad_request"
