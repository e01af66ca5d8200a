"""What a run's token reaches, walked over every route of the API: a route that nobody has thought of fails here."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from runyard.contracts import manifest, pack

if TYPE_CHECKING:
    from tests.server.conftest import Answer, Client, Served

OPEN = {("GET", "/"), ("GET", "/health"), ("GET", "/ready")}
PAGES = {
    ("GET", "/runs/{run_id}"),
    ("GET", "/runs/{run_id}/files/{name}"),
    ("GET", "/models/{workspace}/{name}/{version}/{path}"),
}
"""Not opened by any token, but by the key in their link."""
FOR_ALL = {("GET", "/api/sdk"), ("POST", "/api/objects"), ("PUT", "/api/snapshots/{id}")}
"""Every run may see the code that nodes run, and add content."""

RUN = "/api/runs/{run_id}"
OWN = {("GET", f"{RUN}/nodes/{{node}}/plan")}
LED = {
    ("POST", f"{RUN}/facts"),
    ("POST", f"{RUN}/deliveries"),
    ("PUT", f"{RUN}/meeting"),
    ("GET", f"{RUN}/meeting"),
    ("POST", f"{RUN}/preempt"),
    ("POST", f"{RUN}/outputs"),
    ("POST", f"{RUN}/appends/{{name}}"),
}
WRITTEN = {
    ("PATCH", RUN),
    ("POST", f"{RUN}/cancel"),
    ("POST", f"{RUN}/end"),
    ("POST", f"{RUN}/sweep/extend"),
    ("PUT", f"{RUN}/files/{{name}}"),
    ("POST", f"{RUN}/links"),
    ("POST", f"{RUN}/journals/{{writer}}"),
    ("POST", "/api/runs"),  # with the run as `parent_id`
}
READ = {
    ("GET", "/api/runs"),  # with the run as `parent`
    ("GET", RUN),
    ("GET", f"{RUN}/events"),
    ("GET", f"{RUN}/metrics"),
    ("GET", f"{RUN}/metrics/names"),
    ("GET", f"{RUN}/lines/{{name}}"),
    ("GET", f"{RUN}/source"),
    ("GET", f"{RUN}/source/{{name}}"),
    ("GET", f"{RUN}/sweep"),
    ("GET", "/api/comparisons"),  # of the run with itself
    ("GET", "/api/comparisons/curves"),
    ("GET", "/api/comparisons/source"),
    ("GET", f"{RUN}/files"),
    ("GET", f"{RUN}/files/{{name}}"),
}
CONTENT = {
    ("GET", "/api/snapshots/{id}"),  # that of the run
    ("POST", "/api/objects/fetch"),  # what is in it
}
ENDING = {("POST", f"{RUN}/cancel"), ("POST", f"{RUN}/end")}

WS = "/api/workspaces/{workspace}"
WITHIN = {
    ("GET", "/api/workspaces/{name}"),
    ("POST", "/api/workspaces"),  # with `exist_ok`
    ("GET", f"{WS}/experiments"),
    ("PUT", f"{WS}/experiments/{{name}}"),
    ("GET", "/api/experiments/{id}"),
    ("GET", f"{WS}/environments"),
    ("POST", f"{WS}/environments"),
    ("GET", f"{WS}/environments/{{name}}"),
    ("GET", f"{WS}/environments/{{name}}/versions"),
    ("GET", f"{WS}/wheels/{{name}}"),
    ("GET", f"{WS}/secrets"),
    ("GET", f"{WS}/secrets/{{name}}"),
    ("GET", f"{WS}/services"),
    ("GET", f"{WS}/services/{{name}}"),
    ("GET", f"{WS}/services/{{name}}/logs"),
    ("PUT", f"{WS}/wheels/{{name}}"),
    ("GET", f"{WS}/datasets"),
    ("POST", f"{WS}/datasets"),
    ("GET", f"{WS}/datasets/by-name/{{name}}"),
    ("GET", f"{WS}/datasets/by-name/{{name}}/versions"),
    ("PATCH", f"{WS}/datasets/by-name/{{name}}/versions/{{version}}"),
    ("POST", f"{WS}/datasets/{{id}}/registrations"),
    ("GET", f"{WS}/models"),
    ("POST", f"{WS}/models"),
    ("GET", f"{WS}/models/{{name}}/{{version}}"),
    ("GET", f"{WS}/models/{{name}}/{{version}}/manifest"),
    ("GET", f"{WS}/models/{{name}}/{{version}}/files/{{path}}"),
    ("GET", f"{WS}/models/{{name}}/{{version}}/links"),
    ("PATCH", f"{WS}/models/{{name}}/{{version}}"),
    ("GET", f"{WS}/datastores"),
    ("GET", f"{WS}/datastores/{{name}}"),
    ("GET", f"{WS}/datastores/{{name}}/files"),
    ("GET", f"{WS}/datastores/{{name}}/content"),
    ("PUT", f"{WS}/datastores/{{name}}/content"),
    ("GET", f"{WS}/datastores/{{name}}/upload"),
    ("POST", f"{WS}/datastores/{{name}}/addresses"),
    ("POST", f"{WS}/datastores/{{name}}/login"),
    ("GET", f"{WS}/data-map"),
}
TARGETS = {
    ("GET", f"{WS}/compute"),
    ("GET", f"{WS}/compute/{{name}}"),
    ("GET", f"{WS}/compute/{{name}}/nodes"),
    ("GET", f"{WS}/datasets/{{id}}"),
    ("GET", f"{WS}/datasets/{{id}}/files"),
    ("GET", f"{WS}/datasets/{{id}}/paths"),
    ("GET", f"{WS}/datasets/{{id}}/state"),
    ("GET", f"{WS}/datasets/{{id}}/folder"),
    ("GET", f"{WS}/datasets/{{id}}/content"),
}
"""Of its own workspace, also for a run that is narrowed to itself: a child run needs a target, a run its inputs."""
FILTERED = {("GET", "/api/workspaces")}
"""Answered with the workspace of the run alone."""
USERS = {
    ("POST", "/api/services/stop"),
    ("POST", f"{WS}/services"),
    ("PATCH", f"{WS}/services/{{name}}"),
    ("DELETE", f"{WS}/services/{{name}}"),
    ("GET", f"{WS}/services/{{name}}/keys"),
    ("POST", f"{WS}/services/{{name}}/keys"),
    ("POST", f"{WS}/services/{{name}}/token"),
    ("POST", f"{WS}/services/{{name}}/scale"),
    ("POST", f"{WS}/services/{{name}}/rollback"),
    ("POST", f"{WS}/services/{{name}}/versions/{{version}}"),
    ("PATCH", f"{WS}/services/{{name}}/versions/{{version}}"),
    ("DELETE", f"{WS}/services/{{name}}/versions/{{version}}"),
    ("PUT", f"{WS}/secrets/{{name}}"),
    ("DELETE", f"{WS}/secrets/{{name}}"),
    ("GET", "/metrics"),
    ("GET", f"{WS}/load"),
    ("GET", f"{WS}/services/{{name}}/numbers"),
    ("GET", f"{WS}/services/{{name}}/description"),
    ("POST", f"{WS}/services/{{name}}/trial"),
    ("GET", "/api/server/condition"),
    ("POST", "/api/objects/handed"),
    ("GET", "/api/server"),
    ("GET", "/api/changes"),
    ("POST", "/api/run-batches"),
    ("GET", f"{WS}/table"),
    ("GET", f"{WS}/table/groups"),
    ("GET", f"{WS}/table/columns"),
    ("GET", f"{WS}/table/values"),
    ("GET", f"{WS}/table/csv"),
    ("GET", f"{WS}/views"),
    ("PUT", f"{WS}/views/{{name}}"),
    ("DELETE", f"{WS}/views/{{name}}"),
    ("POST", "/api/studio/links"),
    ("DELETE", "/api/studio/sessions"),
    ("DELETE", "/api/studio/sessions/own"),
    ("GET", "/api/usage"),
    ("POST", "/api/usage"),
    ("DELETE", RUN),
    ("PATCH", "/api/workspaces/{name}"),
    ("DELETE", "/api/workspaces/{name}"),
    ("PATCH", "/api/experiments/{id}"),
    ("DELETE", "/api/experiments/{id}"),
    ("PUT", f"{WS}/environments/{{name}}/versions/{{version}}/labels"),
    ("GET", f"{WS}/environment-maps"),
    ("PUT", f"{WS}/environment-maps"),
    ("DELETE", f"{WS}/environment-maps"),
    ("DELETE", f"{WS}/datasets/by-name/{{name}}"),
    ("DELETE", f"{WS}/models/{{name}}/{{version}}"),
    ("POST", f"{WS}/datastores"),
    ("DELETE", f"{WS}/datastores/{{name}}"),
    ("PUT", f"{WS}/datastores/{{name}}/default"),
    ("PUT", f"{WS}/data-map"),
    ("DELETE", f"{WS}/data-map"),
    ("GET", f"{WS}/settings"),
    ("PUT", f"{WS}/settings/{{key}}"),
    ("DELETE", f"{WS}/settings/{{key}}"),
    ("GET", f"{WS}/retention"),
    ("POST", f"{WS}/retention"),
    ("POST", f"{WS}/compute"),
    ("PATCH", f"{WS}/compute/{{name}}"),
    ("DELETE", f"{WS}/compute/{{name}}"),
}

BELOW = {"own", "child", "submitted"}
REACHED: list[tuple[set[tuple[str, str]], set[str], set[str], set[str]]] = [
    # routes, and the runs that they reach: as it is by default, with runs.scope = run, after the run has ended
    (OWN, {"own"}, {"own"}, {"own"}),
    (LED, BELOW, BELOW, BELOW),
    (WRITTEN, {*BELOW, "parent"}, BELOW, {*BELOW, "parent"}),
    (READ, {*BELOW, "parent", "sibling", "stranger"}, BELOW, BELOW),
    (CONTENT, {*BELOW, "parent", "sibling", "stranger"}, {"own"}, {"own"}),
]
NOT_WRITTEN = ("sibling", "stranger", "elsewhere")
RUNS = ("child", "submitted", "sibling", "stranger", "elsewhere", "nowhere", "own", "parent")
"""The run itself, and the one that ends it with itself, come last: some routes end a run."""


@dataclass(frozen=True)
class Family:
    """A run with its relatives, each with a snapshot of its own, and runs that it has nothing to do with."""

    own: Client
    runs: dict[str, Any]
    contents: dict[str, str]  # by run: what is in its snapshot


def family(client: Client, scope: str = "workspace") -> Family:
    for workspace in ("team", "other"):
        client.ok(
            "POST",
            "/api/workspaces",
            {"name": workspace, "subscription_id": "s", "resource_group": "r", "exist_ok": True},
        )
        client.ok("PUT", f"/api/workspaces/{workspace}/settings/runs.scope", {"value": "workspace"})
    runs: dict[str, Any] = {}
    contents: dict[str, str] = {}

    def make(name: str, by: Client, **request: Any) -> None:
        content = f"print({name!r})".encode()
        contents[name] = hashlib.sha256(content).hexdigest()
        client.ok("POST", "/api/objects", body=pack.header(contents[name], len(content)) + content)
        listing = manifest.make([manifest.Entry("x.py", digest=contents[name], size=len(content))])
        client.ok("PUT", f"/api/snapshots/{listing.id}", body=listing.text)
        runs[name] = by.ok("POST", "/api/runs", {"snapshot_id": listing.id, **request})

    at = {"workspace": "team", "experiment": "trial", "kind": "interactive"}
    make("parent", client, **at)
    make("own", client, kind="child", parent_id=runs["parent"]["id"])
    make("sibling", client, kind="child", parent_id=runs["parent"]["id"])
    make("stranger", client, **at)
    make("elsewhere", client, **{**at, "workspace": "other"})
    own = client.as_run(runs["own"])
    make("child", own, kind="child", parent_id=runs["own"]["id"])
    make("submitted", own, **at)
    runs["nowhere"] = {**runs["stranger"], "id": "nowhere", "snapshot_id": "0" * 64}
    contents["nowhere"] = "0" * 64
    client.ok("PUT", "/api/workspaces/team/settings/runs.scope", {"value": scope})
    return Family(own, runs, contents)


def ask(made: Family, method: str, template: str, which: str, workspace: str = "team") -> Answer:
    """Ask a route about one of the runs, or about a workspace, with the token of the run `own`."""
    run = made.runs[which]
    experiment = made.runs["own" if workspace == "team" else "elsewhere"]["experiment_id"]
    values = {
        "run_id": run["id"],
        "workspace": workspace,
        "id": experiment if template.startswith("/api/experiments") else run["snapshot_id"],
        "writer": "w",
        "node": "0",
        "version": "1",
        "path": "x",
        "key": "environments.relax",
        "name": _name(template, workspace),
    }
    path = template
    for name, value in values.items():
        path = path.replace("{" + name + "}", value)
    assert "{" not in path, f"the walk does not know how to fill {path}"
    if template.endswith(("/appends/{name}", "/journals/{writer}")):
        path += "?offset=0"
    if (method, template) == ("GET", "/api/runs"):
        path += f"?parent={run['id']}"
    if template.startswith("/api/comparisons"):
        path += f"?run={run['id']}&run={run['id']}" + ("&name=loss" if template.endswith("/curves") else "")
    if template.endswith("environment-maps") and method == "DELETE":
        path += "?pattern=x"
    if template.endswith(("/content", "/upload")):
        path += "?path=/x&upload=0123456789"
    body = _body(made, method, template, which, workspace)
    raw = b"{}\n" if template.endswith("/deliveries") else b"" if body is None else None
    return made.own.call(method, path, body, body=raw, begin=template.endswith("/events"))


def _name(template: str, workspace: str) -> str:
    if "/models/" not in template and ("/files/" in template or "/appends/" in template):
        return "outputs/x"
    if "/wheels/" in template:
        return "mine-1.0-py3-none-any.whl"
    return workspace if template == "/api/workspaces/{name}" else "local"


def _body(made: Family, method: str, template: str, which: str, workspace: str) -> Any:
    run = made.runs[which]
    bodies: dict[tuple[str, str], Any] = {
        ("POST", "/api/workspaces"): {
            "name": workspace,
            "subscription_id": "s",
            "resource_group": "r",
            "exist_ok": True,
        },
        ("PATCH", "/api/workspaces/{name}"): {"description": "x"},
        ("PATCH", "/api/experiments/{id}"): {"archived": True},
        ("POST", "/api/runs"): {"kind": "child", "parent_id": run["id"]},
        ("PATCH", RUN): {"set_tags": {"a": "b"}},
        ("POST", f"{RUN}/facts"): {"fact": "heartbeat"},
        ("POST", f"{RUN}/end"): {"outcome": "failed"},
        ("POST", f"{RUN}/sweep/extend"): {"runs": 1},
        ("PUT", f"{RUN}/meeting"): {"attempt": 1, "address": "127.0.0.1:9"},
        ("PUT", f"{WS}/secrets/{{name}}"): {"value": "x"},
        ("POST", f"{WS}/services"): {"name": "mine"},
        ("PATCH", f"{WS}/services/{{name}}"): {},
        ("POST", f"{WS}/services/{{name}}/keys"): {"key": "Primary"},
        ("POST", f"{WS}/services/{{name}}/scale"): {"replicas": 1},
        ("POST", f"{WS}/services/{{name}}/versions/{{version}}"): {},
        ("PATCH", f"{WS}/services/{{name}}/versions/{{version}}"): {},
        ("POST", f"{WS}/compute"): {"name": "mine", "max_nodes": 1},
        ("PATCH", f"{WS}/compute/{{name}}"): {"max_nodes": 1},
        ("POST", f"{WS}/models"): {"name": "mine", "snapshot_id": made.runs["own"]["snapshot_id"]},
        ("PATCH", f"{WS}/models/{{name}}/{{version}}"): {"description": "x"},
        ("POST", f"{RUN}/links"): {"files": {"outputs/x": made.contents[which]}},
        ("POST", "/api/objects/fetch"): {"hashes": [made.contents[which]]},
        ("POST", f"{WS}/environments"): {"definition": {"name": "x"}},
        ("PUT", f"{WS}/environments/{{name}}/versions/{{version}}/labels"): {"labels": []},
        ("PUT", f"{WS}/environment-maps"): {"pattern": "*", "interpreter": "/x"},
        ("PUT", f"{WS}/settings/{{key}}"): {"value": "true"},
    }
    return bodies.get((method, template))


def refused(answer: Answer) -> bool:
    """By who asked. Any other refusal means that the route was reached."""
    return answer.status >= 400 and answer.code in ("not_allowed", "not_authenticated")


def routes(client: Client) -> list[tuple[str, str]]:
    paths = client.ok("GET", "/openapi.json")["paths"]
    return [(method.upper(), path) for path, methods in paths.items() for method in methods]


def state(client: Client, run: Any) -> Any:
    path = f"/api/runs/{run['id']}"
    return [client.get(f"{path}{more}").body for more in ("", "/files", "/metrics")]


def test_the_walk_knows_every_route(served_on_sqlite: Served) -> None:
    of_runs = OWN | LED | WRITTEN | READ | CONTENT
    known = OPEN | PAGES | FOR_ALL | of_runs | WITHIN | TARGETS | FILTERED | USERS
    assert set(routes(served_on_sqlite.client)) == known, "say in this file who may use the new route"
    groups = (OPEN, PAGES, FOR_ALL, OWN, LED, WRITTEN, READ, CONTENT, WITHIN, TARGETS, FILTERED, USERS)
    assert sum(map(len, groups)) == len(known)


@pytest.mark.parametrize("case", ["default", "narrow", "ended"])
def test_which_runs_each_route_reaches(served_on_sqlite: Served, case: str) -> None:
    client = served_on_sqlite.client
    made = begun(client, case)
    before = {which: state(client, made.runs[which]) for which in NOT_WRITTEN}
    for group, by_default, narrow, ended in REACHED:
        reached = {"default": by_default, "narrow": narrow, "ended": ended}[case]
        for method, template in sorted(group):
            of = begun(client, case) if (method, template) in ENDING else made
            for which in RUNS:
                answer = ask(of, method, template, which)
                assert refused(answer) == (which not in reached), (method, template, which, answer.body)
    assert {which: state(client, made.runs[which]) for which in NOT_WRITTEN} == before


def begun(client: Client, case: str) -> Family:
    made = family(client, "run" if case == "narrow" else "workspace")
    if case == "ended":
        client.end(made.runs["own"])
    return made


@pytest.mark.parametrize("case", ["default", "narrow", "ended"])
def test_which_workspaces_each_route_reaches(served_on_sqlite: Served, case: str) -> None:
    made = begun(served_on_sqlite.client, case)
    for method, template in sorted(WITHIN):
        for workspace in ("team", "other"):
            answer = ask(made, method, template, "own", workspace)
            allowed = workspace == "team" and case == "default"
            assert refused(answer) != allowed, (method, template, workspace, answer.body)
    for method, template in sorted(TARGETS):
        assert not refused(ask(made, method, template, "own", "team")), (method, template)
        assert refused(ask(made, method, template, "own", "other")), (method, template)
    listed = made.own.get("/api/workspaces")
    if case == "default":
        assert [each["name"] for each in listed.json["workspaces"]] == ["team"]
    else:
        assert listed.code == "not_allowed"


def test_what_only_the_user_may_do(served_on_sqlite: Served) -> None:
    made = family(served_on_sqlite.client)
    for method, template in sorted(USERS):
        for workspace in ("team", "other"):
            answer = ask(made, method, template, "own", workspace)
            assert (answer.status, answer.code) == (403, "not_allowed"), (method, template, answer.body)
    for method, template in sorted(FOR_ALL):
        assert not refused(ask(made, method, template, "own")), (method, template)


def test_a_run_lists_the_runs_of_its_workspace_and_no_others(served: Served) -> None:
    made = family(served.client)
    listed = {each["id"] for each in made.own.ok("GET", "/api/runs?include_children=true")["runs"]}
    assert listed == {made.runs[each]["id"] for each in RUNS if each not in ("elsewhere", "nowhere")}
    assert made.own.get("/api/runs?workspace=other").code == "not_allowed"
    assert made.own.get(f"/api/runs?workspace=other&parent={made.runs['own']['id']}").code == "not_allowed"
    assert made.own.get(f"/api/runs?parent={made.runs['own']['id']}&root={made.runs['elsewhere']['id']}").status == 403
    narrow = family(served.client, "run")
    assert narrow.own.get("/api/runs").code == "not_allowed"
    assert narrow.own.get("/api/runs?workspace=team").code == "not_allowed"


def test_what_a_run_submits_is_its_own_line(served: Served) -> None:
    """It has no parent, as in SDK v1; the user of the run that submitted it; and a token of its own."""
    made = family(served.client)
    run, by = made.runs["submitted"], made.runs["own"]
    assert (run["parent_id"], run["root_id"]) == (None, run["id"])
    assert run["submitted_by"] == by["submitted_by"]
    assert run["properties"]["runyard.submitted.from"] == by["id"]
    inner = served.client.as_run(run)
    assert inner.get(f"/api/runs/{run['id']}").status == 200
    assert inner.call("PATCH", f"/api/runs/{by['id']}", {"set_tags": {"a": "b"}}).code == "not_allowed"
    grandchild = inner.ok("POST", "/api/runs", {"kind": "child", "parent_id": run["id"]})
    made.own.ok("PATCH", f"/api/runs/{grandchild['id']}", {"set_tags": {"below": "yes"}})


def test_a_run_does_not_make_itself_the_one_that_submitted_another(served: Served) -> None:
    """Rights follow from that property: whoever could set it would rule over the runs of others."""
    made = family(served.client)
    parent, sibling, own = (made.runs[each]["id"] for each in ("parent", "sibling", "own"))
    forged = {"runyard.submitted.from": own}
    answer = made.own.call("PATCH", f"/api/runs/{parent}", {"add_properties": forged})
    assert answer.code == "property_fixed"
    record = json.dumps(["p", forged]).encode() + b"\n"
    made.own.ok("POST", f"/api/runs/{parent}/journals/w?offset=0", body=record)
    assert "runyard.submitted.from" not in served.client.ok("GET", f"/api/runs/{parent}")["properties"]
    assert made.own.call("PATCH", f"/api/runs/{sibling}", {"set_tags": {"a": "b"}}).code == "not_allowed"
    claimed = served.client.make_run(properties=forged)
    assert "runyard.submitted.from" not in claimed["properties"]


def test_runs_do_not_see_the_variables_of_one_another(served: Served) -> None:
    """Environment variables are how secrets are handed to a run."""
    client = served.client
    secret = {"API_KEY": "open sesame"}
    definition = {"environmentVariables": secret, "environment": {"name": "e", "environmentVariables": secret}}
    launch = {"command": "true", "environment_variables": secret}
    run = served.stored_run(definition=definition, launch=launch)
    assert client.get(f"/api/runs/{run['id']}").body.count(b"open sesame") == 3
    assert client.as_run(run).get(f"/api/runs/{run['id']}").body.count(b"open sesame") == 3
    other = client.as_run(client.make_run()).ok("GET", f"/api/runs/{run['id']}")
    assert "open sesame" not in str(other)
    assert other["definition"]["environment"]["name"] == "e"
    assert other["launch"]["command"] == "true"


def test_a_snapshot_of_the_workspace_can_be_restored_inside_a_run(served: Served) -> None:
    made = family(served.client)
    run, digest = made.runs["stranger"], made.contents["stranger"]
    assert digest.encode() in made.own.get(f"/api/snapshots/{run['snapshot_id']}").body
    mixed = {"hashes": [digest, made.contents["own"], made.contents["sibling"]]}
    assert made.own.call("POST", "/api/objects/fetch", mixed).body.count(b"print(") == 3
    mixed["hashes"].append(made.contents["elsewhere"])
    assert made.own.call("POST", "/api/objects/fetch", mixed).code == "not_allowed"
