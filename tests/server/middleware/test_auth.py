from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.server.conftest import on_both_databases

from runyard.server.middleware.auth import run_token, same, view_key

if TYPE_CHECKING:
    from tests.server.conftest import Client

OPEN = {"/", "/health", "/ready"}
OTHERS = {"node": "0", "version": "1", "key": "environments.relax", "path": "x"}


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
        elif path.startswith(("/runs/", "/models/")):  # which a key in the address opens
            assert answer.status == 403, path
            assert b"not_allowed" in answer.body
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


def test_a_refusal_says_what_the_token_may_do(client: Client) -> None:
    run = client.make_run()
    answer = client.as_run(run).get("/metrics")
    assert (answer.status, answer.code) == (403, "not_allowed")
    assert run["id"] in answer.json["help"]
    assert "descendants" in answer.json["help"]


@on_both_databases
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
