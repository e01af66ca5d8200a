from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from runyard.server.middleware import problems
from runyard.store import errors
from runyard.store.content.objects import ObjectWriter
from runyard.store.runs import runs

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_every_code_has_one_status() -> None:
    listed = [code for codes in problems._CODES.values() for code in codes]
    assert len(listed) == len(set(listed))


def test_an_unknown_route_and_a_wrong_method_are_told_apart(client: Client) -> None:
    assert client.get("/api/nothing").code == "not_found"
    answer = client.call("PUT", "/api/runs")
    assert (answer.status, answer.code) == (405, "method_not_allowed")


def test_a_request_of_the_wrong_form_names_the_field(client: Client) -> None:
    cases: list[tuple[str, str, object, str]] = [
        ("GET", "/api/runs?limit=0", None, "limit"),
        ("GET", "/api/runs?limit=many", None, "limit"),
        ("GET", "/api/runs?after=nonsense", None, "nonsense"),
        ("POST", "/api/runs", {"workspace": "local", "experiment": "e", "colour": "red"}, "colour"),
        ("POST", "/api/runs", [], "/api/runs"),
        ("POST", "/api/workspaces", {"name": "abc"}, "subscription_id"),
        ("GET", "/api/workspaces/local/experiments?view=Some", None, "view"),
        ("GET", "/api/snapshots/xyz", None, "id"),
    ]
    for method, path, value, said in cases:
        answer = client.call(method, path, value)
        assert (answer.status, answer.code) == (400, "bad_request"), path
        assert said in answer.json["title"]


def test_what_is_no_json_is_refused(client: Client) -> None:
    answer = client.call("POST", "/api/runs", body=b"{", headers={"Content-Type": "application/json"})
    assert answer.code == "bad_request"


def test_half_a_character_that_a_refusal_repeats_is_no_error_of_ours(client: Client) -> None:
    half = b'{"run_id": "\\ud800", "key": "k"}'
    path = "/mlflow/local/api/2.0/mlflow/runs/delete-tag"
    answer = client.call("POST", path, body=half, headers={"Content-Type": "application/json"})
    assert (answer.status, answer.json["error_code"]) == (404, "RESOURCE_DOES_NOT_EXIST")


def test_names_against_the_rules_are_refused_with_the_rule(client: Client) -> None:
    answer = client.call("PUT", "/api/workspaces/local/experiments/-no-")
    assert (answer.status, answer.code) == (400, "bad_name")
    assert "letter or digit first" in answer.json["title"]


def test_an_unexpected_error_shows_an_id_that_is_in_the_log_and_no_more(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(connection: object) -> dict[str, int]:
        raise RuntimeError("the inner secret")

    monkeypatch.setattr(runs, "counts_by_status", fail)
    with caplog.at_level(logging.ERROR, "runyard.server"):
        answer = client.get("/metrics")
    assert (answer.status, answer.code) == (500, "internal")
    assert b"secret" not in answer.body
    assert b"Traceback" not in answer.body
    assert answer.json["detail"]["id"] in caplog.text
    assert "the inner secret" in caplog.text


def test_a_refused_upload_is_answered_even_if_it_is_large(client: Client) -> None:
    def body() -> Iterator[bytes]:
        for _ in range(64):
            yield bytes(1 << 20)

    answer = client.call("PUT", "/api/runs/nowhere/files/a", body=body(), headers={"Content-Length": str(64 << 20)})
    assert (answer.status, answer.code) == (404, "run_not_found")


def test_a_full_disk_simulated_in_the_middle_of_an_upload_is_told_to_the_sender(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = client.make_run()

    def write(self: ObjectWriter, chunk: bytes) -> None:
        raise errors.disk_full("/somewhere")

    monkeypatch.setattr(ObjectWriter, "write", write)
    answer = client.call("PUT", f"/api/runs/{run['id']}/files/outputs/model.bin", body=bytes(32 << 20))
    assert (answer.status, answer.code) == (507, "disk_full")
    assert "runyard rm" in answer.json["help"]
    assert client.ok("GET", f"/api/runs/{run['id']}/files")["files"] == []
