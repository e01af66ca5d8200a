"""If these fail, one request can fill the memory of the server."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from runyard.server.api import snapshots
from runyard.server.middleware import body_limit
from runyard.server.requests import uploads

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def client(served_on_sqlite: Served) -> Client:
    return served_on_sqlite.client


@pytest.mark.parametrize("told", [True, False])
def test_json_that_is_too_large_is_refused_before_it_is_read_whole(
    client: Client, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    monkeypatch.setattr(body_limit, "MOST_BYTES", 1 << 20)
    request = {"workspace": "local", "experiment": "e", "kind": "interactive", "description": "x" * (1 << 20)}
    text = json.dumps(request).encode()
    body = text if told else iter([text[:1000], text[1000:]])
    answer = client.call("POST", "/api/runs", body=body, headers=JSON)
    assert (answer.status, answer.code) == (413, "too_large")
    assert "1 MiB" in answer.json["title"]
    request["description"] = "short"
    text = json.dumps(request).encode()
    for body in (text, iter([text])):
        assert client.call("POST", "/api/runs", body=body, headers=JSON).status == 201


def test_what_is_taken_in_by_pieces_has_no_limit(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limit, "MOST_BYTES", 1000)
    run = client.make_run()
    large = b"x" * 5000
    digest = hashlib.sha256(large).hexdigest()
    for body in (large, iter([large])):
        client.ok("PUT", f"/api/runs/{run['id']}/files/outputs/a", body=body)
        client.ok("POST", f"/api/runs/{run['id']}/appends/logs/{digest[:4]}?offset=0", body=body)
    client.ok("POST", "/api/objects", body=f"{digest} 5000\n".encode() + large)
    client.ok("POST", f"/api/runs/{run['id']}/journals/w?offset=0", body=b'["v","a",1.0,1.0,null]\n' * 100)
    client.ok("PUT", "/api/workspaces/local/wheels/a-1-py3-none-any.whl", body=large)


def test_a_manifest_that_is_too_large_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "MOST_BYTES", 1 << 20)
    answer = client.call("PUT", f"/api/snapshots/{'0' * 64}", body=iter([b"[]\n" * 1000] * 400))
    assert (answer.status, answer.code) == (413, "too_large")
    assert ".amlignore" in answer.json["help"]


def test_a_large_manifest_is_taken(client: Client) -> None:
    digest = hashlib.sha256(b"content").hexdigest()
    client.ok("POST", "/api/objects", body=f"{digest} 7\n".encode() + b"content")
    lines = [
        json.dumps([f"file{number:06}", "file", digest, 7, 0, ""], separators=(",", ":")) for number in range(12_000)
    ]
    text = ("\n".join(lines) + "\n").encode()
    assert len(text) > snapshots.SMALL
    id = hashlib.sha256(text).hexdigest()
    assert client.ok("PUT", f"/api/snapshots/{id}", body=text) == {"id": id, "missing": []}
    assert client.get(f"/api/snapshots/{id}").body == text


def test_a_line_without_an_end_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LONGEST_LINE", 1 << 20)
    run = client.make_run()
    answer = client.call("POST", f"/api/runs/{run['id']}/journals/w?offset=0", body=iter([b"x" * (1 << 20)] * 4))
    assert (answer.status, answer.code) == (400, "bad_journal")
