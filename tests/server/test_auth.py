from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from runyard.contracts import manifest, pack
from runyard.server.auth import run_token, same, view_key

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served

OPEN = {"/", "/health", "/ready"}
UPLOADS = {("POST", "/api/objects"), ("PUT", "/api/snapshots/{id}")}
"""Every run may add content; the answers say only what is missing."""
SEEN_BY_RUNS = {
    ("GET", "/api/sdk"),
    ("GET", "/api/workspaces/{workspace}/compute"),
    ("GET", "/api/workspaces/{workspace}/compute/{name}"),
    ("GET", "/api/workspaces/{workspace}/compute/{name}/nodes"),
}
"""Every run may see the code that nodes run, and where children of it could take place."""
OTHERS = {"node": "0", "version": "1", "key": "environments.relax"}


def routes(client: Client) -> list[tuple[str, str]]:
    paths = client.ok("GET", "/openapi.json")["paths"]
    return [(method.upper(), path) for path, methods in paths.items() for method in methods]


def fill(path: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        path = path.replace("{" + name + "}", value)
    assert "{" not in path, f"the walk does not know how to fill {path}"
    return path


def test_tokens_are_signed_for_one_run_and_one_purpose() -> None:
    assert run_token("s", "a") == run_token("s", "a")
    assert run_token("s", "a").startswith("run.a.")
    assert len({run_token("s", "a"), run_token("s", "b"), run_token("t", "a"), view_key("s", "a")}) == 4
    assert view_key("s", "a") not in run_token("s", "a")


def test_comparing_takes_any_text() -> None:
    assert same("ü", "ü")
    assert not same("\udc80", "ü")


def test_without_a_known_token_only_open_routes_answer(client: Client) -> None:
    stranger = replace(client, token=None)
    values = {"run_id": "x", "name": "x", "workspace": "local", "id": "0" * 64, "writer": "w", **OTHERS}
    walked = 0
    for method, path in routes(client):
        answer = stranger.call(method, fill(path, values))
        if path in OPEN:
            assert answer.status == 200
        elif path.startswith("/runs/"):
            assert answer.code == "not_allowed"
        else:
            assert (answer.status, answer.code) == (401, "not_authenticated"), (method, path)
            assert answer.headers["www-authenticate"] == "Bearer"
        walked += 1
    assert walked > 25
    for token in ("", "wrong", "run.x.y", "run..", "run.", "ünknown"):
        answer = replace(client, token=token).get("/api/runs")
        assert (answer.status, answer.code) == (401, "not_authenticated"), token


def test_no_token_is_echoed(client: Client) -> None:
    answer = replace(client, token="s3cret-token").get("/api/runs")
    assert b"s3cret-token" not in answer.body


def test_a_foreign_run_token_reaches_no_route(served: Served) -> None:
    """The whole API, with the token of another run, against a run that has something of everything."""
    client = served.client
    content = b"the secret of this run"
    digest = client.ok("PUT", "/api/runs/" + client.make_run()["id"] + "/files/outputs/a", body=content)["hash"]
    listing = manifest.make([manifest.Entry("secret.py", digest=digest, size=len(content))])
    assert client.ok("PUT", f"/api/snapshots/{listing.id}", body=listing.text)["missing"] == []
    run = client.make_run(snapshot_id=listing.id, tags={"secret": "yes"})
    path = f"/api/runs/{run['id']}"
    client.ok("PUT", f"{path}/files/outputs/secret.txt", body=content)
    client.ok("POST", f"{path}/journals/w?offset=0", body=b'["v","secret",1.0,0.0,null]\n')
    foreign = client.as_run(client.make_run())

    values = {
        "run_id": run["id"],
        "name": "outputs/secret.txt",
        "workspace": "local",
        "id": listing.id,
        "writer": "w",
        **OTHERS,
    }
    bodies: dict[tuple[str, str], Any] = {
        ("POST", "/api/workspaces"): {"name": "other", "subscription_id": "s", "resource_group": "r"},
        ("PATCH", "/api/workspaces/{name}"): {"description": "x"},
        ("PATCH", "/api/experiments/{id}"): {"archived": True},
        ("POST", "/api/runs"): {"kind": "child", "parent_id": run["id"]},
        ("PATCH", "/api/runs/{run_id}"): {"set_tags": {"a": "b"}},
        ("POST", "/api/runs/{run_id}/facts"): {"fact": "ended", "outcome": "failed"},
        ("PUT", "/api/runs/{run_id}/meeting"): {"attempt": 1, "address": "127.0.0.1:9"},
        ("POST", "/api/workspaces/{workspace}/compute"): {"name": "mine", "max_nodes": 1},
        ("PATCH", "/api/workspaces/{workspace}/compute/{name}"): {"max_nodes": 1},
        ("POST", "/api/runs/{run_id}/links"): {"files": {"outputs/x": digest}},
        ("POST", "/api/objects/fetch"): {"hashes": [digest]},
        ("POST", "/api/workspaces/{workspace}/environments"): {"definition": {"name": "x"}},
        ("PUT", "/api/workspaces/{workspace}/environments/{name}/versions/{version}/labels"): {"labels": []},
        ("PUT", "/api/workspaces/{workspace}/environment-maps"): {"pattern": "*", "interpreter": "/x"},
        ("PUT", "/api/workspaces/{workspace}/settings/{key}"): {"value": "true"},
    }
    before = client.ok("GET", path)
    for method, template in routes(client):
        if template in OPEN or (method, template) in UPLOADS | SEEN_BY_RUNS:
            continue
        of_a_file = template.endswith(("/files/{name}", "/appends/{name}"))
        target = fill(template, values if of_a_file else {**values, "name": "local"})
        if template.endswith(("/appends/{name}", "/journals/{writer}")):
            target += "?offset=0"
        body = bodies.get((method, template))
        answer = foreign.call(method, target, body, body=None if body else b"")
        assert answer.status in (401, 403, 404), (method, template, answer.body)
        assert answer.code in ("not_allowed", "not_authenticated"), (method, template, answer.body)
        assert content not in answer.body
        assert b"secret" not in answer.body.replace(b"outputs/secret.txt", b"")
    after = client.ok("GET", path)
    assert after == before
    assert client.get(f"{path}/files/outputs/secret.txt").body == content


def test_a_refusal_says_what_the_token_may_do(client: Client) -> None:
    run = client.make_run()
    answer = client.as_run(run).get("/api/workspaces")
    assert (answer.status, answer.code) == (403, "not_allowed")
    assert run["id"] in answer.json["help"]
    assert "descendants" in answer.json["help"]


def test_a_run_token_does_not_tell_whether_another_run_exists(client: Client) -> None:
    caller = client.as_run(client.make_run())
    there, nowhere = caller.get(f"/api/runs/{client.make_run()['id']}"), caller.get("/api/runs/nowhere")
    assert (there.status, there.code) == (nowhere.status, nowhere.code) == (403, "not_allowed")


def test_a_run_reaches_itself_and_its_descendants(client: Client) -> None:
    run = client.make_run()
    own = client.as_run(run)
    child = own.ok("POST", "/api/runs", {"kind": "child", "parent_id": run["id"]})
    grandchild = client.as_run(child).ok("POST", "/api/runs", {"kind": "child", "parent_id": child["id"]})
    for each in (run, child, grandchild):
        path = f"/api/runs/{each['id']}"
        assert own.ok("GET", path)["id"] == each["id"]
        own.ok("PATCH", path, {"set_tags": {"seen": "yes"}})
        own.ok("PUT", f"{path}/files/outputs/x", body=b"x")
    assert [each["id"] for each in own.ok("GET", f"/api/runs?parent={run['id']}")["runs"]] == [child["id"]]
    assert len(own.ok("GET", f"/api/runs?root={run['id']}")["runs"]) == 2
    assert client.as_run(grandchild).get(f"/api/runs/{run['id']}").code == "not_allowed"


def test_a_run_makes_children_of_its_own_only(client: Client) -> None:
    run, other = client.make_run(), client.make_run()
    own = client.as_run(run)
    alone = {"workspace": "local", "experiment": "trial"}
    assert own.call("POST", "/api/runs", {**alone, "kind": "interactive"}).code == "not_allowed"
    assert own.call("POST", "/api/runs", {**alone, "kind": "script"}).code == "not_allowed"
    assert own.call("POST", "/api/runs", {"kind": "child", "parent_id": other["id"]}).code == "not_allowed"


def test_a_run_may_not_delete(client: Client) -> None:
    run = client.make_run()
    client.end(run)
    assert client.as_run(run).call("DELETE", f"/api/runs/{run['id']}").code == "not_allowed"
    assert client.get(f"/api/runs/{run['id']}").status == 200


def test_a_run_fetches_its_snapshot_and_no_other_object(client: Client) -> None:
    contents = [b"mine", b"other"]
    digests = [client.ok("PUT", f"/api/runs/{client.make_run()['id']}/files/a", body=each)["hash"] for each in contents]
    listing = manifest.make([manifest.Entry("a.py", digest=digests[0], size=4)])
    client.ok("PUT", f"/api/snapshots/{listing.id}", body=listing.text)
    own = client.as_run(client.make_run(snapshot_id=listing.id))
    assert own.get(f"/api/snapshots/{listing.id}").body == listing.text
    fetched = own.call("POST", "/api/objects/fetch", {"hashes": digests[:1]})
    assert fetched.body == pack.header(digests[0], 4) + b"mine"
    assert own.call("POST", "/api/objects/fetch", {"hashes": digests}).code == "not_allowed"


def test_the_token_of_a_deleted_run_adds_nothing(client: Client) -> None:
    run = client.make_run()
    client.end(run)
    client.ok("DELETE", f"/api/runs/{run['id']}")
    gone = client.as_run(run)
    assert gone.call("POST", "/api/objects", body=b"").code == "run_not_found"
    assert gone.call("PUT", f"/api/runs/{run['id']}/files/x", body=b"x").code == "run_not_found"


@pytest.mark.parametrize("how", ["run", "experiment"])
def test_the_token_and_the_link_of_a_deleted_run_never_lead_to_another(client: Client, how: str) -> None:
    run = client.make_run(run_id="nightly")
    client.end(run)
    client.ok("DELETE", "/api/runs/nightly" if how == "run" else f"/api/experiments/{run['experiment_id']}")
    answer = client.call(
        "POST", "/api/runs", {"workspace": "local", "experiment": "trial", "kind": "interactive", "run_id": "nightly"}
    )
    assert (answer.status, answer.code) == (409, "run_deleted")
    assert client.as_run(run).get("/api/runs/nightly").code == "run_not_found"
    assert replace(client, token=None).get(run["web_url"].removeprefix(client.url)).status == 404
    assert client.make_run(run_id="nightly2")["id"] == "nightly2"


def test_a_token_signed_with_another_secret_is_unknown(client: Client) -> None:
    run = client.make_run()
    forged = replace(client, token=run_token("another", run["id"]))
    assert forged.get(f"/api/runs/{run['id']}").status == 401


def test_problem_documents_are_json_with_all_fields(client: Client) -> None:
    said = json.loads(replace(client, token=None).get("/api/runs").body)
    assert set(said) == {"code", "title", "help", "status", "detail"}


def test_a_strangers_body_is_not_taken_apart(client: Client) -> None:
    """FastAPI reads a body before it looks at who sent it; the server must not."""
    stranger = replace(client, token=None)
    answer = stranger.call("POST", "/api/runs", body=b"{", headers={"Content-Type": "application/json"})
    assert (answer.status, answer.code) == (401, "not_authenticated")
    assert stranger.get("/api/nothing/there").code == "not_authenticated"
