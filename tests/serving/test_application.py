"""If these fail, a client of Azure's inference server finds other routes, errors or headers here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.serving import ask, within_script

from runyard.contracts.services.access import hash_of, owner_token
from runyard.serving.rawhttp import AMLResponse


def run(data: str) -> Any:
    given = json.loads(data)
    if given.get("raise"):
        raise ValueError("what it says")
    if given.get("response"):
        return AMLResponse("gone", given["response"], {"x-mine": "1"})
    if given.get("bad"):
        return {1, 2}
    return None if given.get("nothing") else given


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with within_script(run, user_token_hash=hash_of("users token")) as found:
        yield found


def test_health_readiness_and_what_is_not_there(port: int) -> None:
    health = ask(port, "/")
    assert (health.status, health.body) == (200, b"Healthy")
    assert ask(port, "/ready").json() == {"ready": True}
    nowhere = ask(port, "/nowhere")
    assert nowhere.status == 404
    assert "message" in nowhere.json()
    assert "x-request-id" not in nowhere.headers
    wrong = ask(port, "/score", b"{}", method="DELETE")
    assert wrong.status == 405
    assert "x-ms-request-id" not in wrong.headers
    assert ask(port, "/", b"{}").status == 405


def test_answers_and_their_headers(port: int) -> None:
    answer = ask(port, "/score", {"a": 1})
    assert answer.json() == {"a": 1}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-ms-run-function-failed"] == "False"
    assert float(answer.headers["x-ms-run-fn-exec-ms"]) >= 0
    assert len(answer.headers["x-request-id"]) == 36
    assert answer.headers["x-ms-request-id"] == answer.headers["x-request-id"]
    assert answer.headers["x-ms-server-version"].startswith("runyard/")
    assert "x-ms-client-request-id" not in answer.headers
    assert ask(port, "/score", {"nothing": 1}).body == b"{}"
    assert ask(port, "/score", b"", method="OPTIONS").status == 200


def test_ids_are_given_back(port: int) -> None:
    given = {"x-request-id": "r", "x-ms-client-request-id": "c", "TraceId": "t"}
    found = ask(port, "/score", {}, given).headers
    assert (found["x-request-id"], found["x-ms-request-id"], found["x-ms-client-request-id"]) == ("r", "c", "c")
    assert found["traceid"] == "t"
    old = ask(port, "/score", {}, {"x-ms-request-id": "old"}).headers
    assert (old["x-ms-request-id"], old["x-ms-client-request-id"]) == ("old", "old")
    for _ in range(2):
        long = ask(port, "/score", {}, {"x-ms-client-request-id": "x" * 101})
        assert long.status == 431
        assert "x-ms-client-request-id" in long.json()["message"]


def test_a_get_is_an_object_of_its_query(port: int) -> None:
    assert ask(port, "/score?a=1&b=x&c=1&c=[2]").json() == {"a": 1, "b": "x", "c": [1, [2]]}


def test_a_run_that_raises_is_told_in_full_to_its_owner_only(port: int) -> None:
    answer = ask(port, "/score", {"raise": True})
    assert answer.status == 500
    assert answer.headers["x-ms-run-function-failed"] == "True"
    assert "x-ms-run-fn-exec-ms" not in answer.headers
    assert b"what it says" not in answer.body
    assert b"what it says" not in ask(port, "/score", {"raise": True}, {"x-runyard-token": "another"}).body
    full = ask(port, "/score", {"raise": True}, {"x-runyard-token": "users token"}).json()
    assert full["message"] == "ValueError: what it says"
    made = owner_token(hash_of("users token"), "tested")
    assert ask(port, "/score", {"raise": True}, {"x-runyard-token": made}).json()["message"] == full["message"]
    other = owner_token(hash_of("users token"), "another")
    assert b"what it says" not in ask(port, "/score", {"raise": True}, {"x-runyard-token": other}).body
    assert "Traceback" in full["error"]["traceback"]
    assert ask(port, "/score", b"not json").status == 500
    assert ask(port, "/score", b"\xff\xfe").status == 400


def test_responses_pass_through_and_what_cannot_be_encoded_is_told(port: int) -> None:
    gone = ask(port, "/score", {"response": 410})
    assert (gone.status, gone.body, gone.headers["x-mine"]) == (410, b"gone", "1")
    assert gone.headers["x-ms-run-function-failed"] == "False"
    assert ask(port, "/score", {"response": 503}).headers["x-ms-run-function-failed"] == "True"
    wrong = ask(port, "/score", {"bad": 1})
    assert wrong.status == 500
    assert "cannot be written as JSON" in wrong.json()["message"]


def test_origins_of_browsers() -> None:
    with within_script(run, cors_origins=["http://a", "http://b"]) as port:
        allowed = ask(port, "/score", {}, {"Origin": "http://b"}).headers
        assert (allowed["access-control-allow-origin"], allowed["vary"]) == ("http://b", "Origin")
        assert ask(port, "/score", {}).headers["access-control-allow-origin"] == "http://a"
        assert "access-control-allow-origin" not in ask(port, "/score", {}, {"Origin": "http://c"}).headers
        before = ask(port, "/score", b"", {"Origin": "http://a"}, method="OPTIONS")
        assert before.status == 200
        assert before.headers["access-control-allow-methods"] == "GET, POST"
        assert ask(port, "/", {}, {"Origin": "http://a"}, method="OPTIONS").status == 200
