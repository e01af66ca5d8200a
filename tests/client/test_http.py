"""The client must find a server that moved, repeat only what may be repeated, and say in words what is wrong."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.support.ports import free_port

from runyard import __version__
from runyard.client.http import Client, ClientProblem, Locator, Unreachable, problem, quote
from runyard.contracts import PROTOCOL

Answer = Callable[[BaseHTTPRequestHandler], None]


class Peer:
    """An HTTP server whose answers the test decides; it remembers the requests."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, bytes, dict[str, str]]] = []
        self.connections: set[object] = set()
        self.answers: list[Answer] = []
        peer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                peer.requests.append((self.command, self.path, body, dict(self.headers.items())))
                peer.connections.add(self.client_address)
                (peer.answers.pop(0) if peer.answers else says({}))(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def says(value: object, status: int = 200, close: bool = False) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        text = json.dumps(value).encode()
        request.send_response(status)
        request.send_header("Content-Length", str(len(text)))
        if close:
            request.send_header("Connection", "close")
        request.end_headers()
        request.wfile.write(text)

    return answer


def hangs_up(request: BaseHTTPRequestHandler) -> None:
    request.close_connection = True
    request.connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def peer() -> Iterator[Peer]:
    made = Peer()
    yield made
    made.close()


def unused_url() -> str:
    return f"http://127.0.0.1:{free_port()}"


def server_json(home: Path, url: str) -> Path:
    file = home / "server.json"
    file.write_text(json.dumps({"url": url, "pid": 1, "version": "0"}))
    return file


def test_every_request_carries_the_token_and_the_protocol(peer: Peer) -> None:
    Client(Locator(peer.url, "secret")).get("/x", {"a": "1 2", "tag": ["k", "k=v"], "no": None, "yes": True})
    method, path, _, headers = peer.requests[0]
    assert (method, path) == ("GET", "/x?a=1+2&tag=k&tag=k%3Dv&yes=true")
    assert headers["Authorization"] == "Bearer secret"
    assert headers["X-Runyard-Protocol"] == str(PROTOCOL)
    assert headers["X-Runyard-Version"] == __version__


def test_requests_of_a_thread_share_a_connection(peer: Peer) -> None:
    client = Client(Locator(peer.url))
    for _ in range(3):
        client.get("/")
    assert len(peer.connections) == 1


def test_a_connection_that_the_server_closed_is_not_used_again(peer: Peer) -> None:
    """A POST that makes something must not fail, nor be sent twice, because the connection was idle for too long."""
    client = Client(Locator(peer.url))
    peer.answers = [says({}, close=True)]
    client.get("/")
    client.post("/make", {"a": 1})
    assert [path for _, path, _, _ in peer.requests] == ["/", "/make"]


def test_a_refusal_keeps_its_code_and_words(peer: Peer) -> None:
    document = {
        "code": "run_exists",
        "title": "It is there.",
        "help": "Take another.",
        "status": 409,
        "detail": {"n": 1},
    }
    peer.answers = [says(document, 409)]
    with pytest.raises(ClientProblem) as caught:
        Client(Locator(peer.url)).post("/api/runs", {})
    problem = caught.value
    assert (problem.code, problem.title, problem.help, problem.status) == (
        "run_exists",
        "It is there.",
        "Take another.",
        409,
    )
    assert problem.detail == {"n": 1}


def test_a_stranger_at_the_address_is_told_apart_from_a_server(peer: Peer) -> None:
    peer.answers = [says("<html>", 404)]
    with pytest.raises(ClientProblem, match="no reason that Runyard knows"):
        Client(Locator(peer.url)).get("/")


def test_what_may_be_repeated_is_repeated(peer: Peer) -> None:
    peer.answers = [hangs_up, says({"ok": 1})]
    assert Client(Locator(peer.url), patience=10).get("/") == {"ok": 1}


def test_what_must_not_be_repeated_is_sent_once(peer: Peer) -> None:
    peer.answers = [hangs_up]
    with pytest.raises(Unreachable) as caught:
        Client(Locator(peer.url), patience=10).post("/make", {})
    assert caught.value.sent
    assert len(peer.requests) == 1


def test_a_server_that_is_not_ready_is_waited_for(peer: Peer) -> None:
    peer.answers = [says({"code": "not_ready", "title": "Soon."}, 503), says({"ok": 1})]
    assert Client(Locator(peer.url), patience=10).post("/make", {}) == {"ok": 1}


def test_a_server_that_moved_is_found_through_its_file(peer: Peer, tmp_path: Path) -> None:
    client = Client(Locator(unused_url(), server_file=server_json(tmp_path, peer.url)), patience=10)
    client.post("/make", {})
    assert client.url == peer.url


def test_a_dead_server_is_revived_once(peer: Peer, tmp_path: Path) -> None:
    dead = unused_url()
    revived: list[str] = []

    def revive() -> str:
        revived.append(peer.url)
        return peer.url

    client = Client(Locator(dead, None, server_json(tmp_path, dead), revive), patience=10)
    client.get("/")
    client.get("/")
    assert revived == [peer.url]


def test_nobody_at_the_address_is_said_with_what_to_do() -> None:
    url = unused_url()
    with pytest.raises(Unreachable, match="does not answer") as caught:
        Client(Locator(url), patience=0).get("/")
    assert url in str(caught.value)
    assert not caught.value.sent
    assert "runyard serve" in caught.value.help


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(ClientProblem, match="not the address of a server"):
        Client(Locator("localhost:7420")).get("/")


def test_a_name_that_no_server_reads_is_refused_in_words(peer: Peer) -> None:
    for path, params in ((f"/names/{'n' * 100_000}", None), ("/names", {"after": "n" * 100_000})):
        with pytest.raises(ClientProblem, match=r"A name has no 100,0.. characters: /names") as caught:
            Client(Locator(peer.url)).get(path, params)
        assert len(str(caught.value)) < 300
    assert not peer.requests


def test_a_proxy_is_never_asked(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, unused_url())
    assert Client(Locator(peer.url), patience=0).get("/") == {}


def test_a_body_in_pieces_is_made_anew_for_each_try(peer: Peer) -> None:
    peer.answers = [hangs_up, says({})]
    Client(Locator(peer.url), patience=10).put("/big", body=lambda: iter([b"ab", b"c"]), length=3)
    assert [body for _, _, body, _ in peer.requests] == [b"abc", b"abc"]


def test_a_stream_read_to_the_end_does_not_wait_for_the_connection_to_close(peer: Peer) -> None:
    with Client(Locator(peer.url), timeout=5).stream("/file") as answer:
        assert answer.read(-1) == b"{}"
        assert answer.read(10) == b""


def test_events_are_told_one_by_one(peer: Peer) -> None:
    def stream(request: BaseHTTPRequestHandler) -> None:
        text = b': hello\n\nevent: state\ndata: {"status":"Running"}\n\nevent: file\ndata: {"name":\ndata: "a"}\n\n'
        request.send_response(200)
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)

    peer.answers = [stream]
    with Client(Locator(peer.url)).events("/events") as events:
        found = [(event.name, event.value) for event in events]
    assert found == [("quiet", None), ("state", {"status": "Running"}), ("file", {"name": "a"})]


def test_a_stream_of_events_that_breaks_is_said(peer: Peer) -> None:
    def stream(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "1000")
        request.end_headers()
        request.wfile.write(b"event: state\n")
        hangs_up(request)

    peer.answers = [stream]
    with Client(Locator(peer.url)).events("/events") as events, pytest.raises(Unreachable, match="broke off"):
        list(events)


def test_the_way_from_inside_a_run_is_in_the_environment() -> None:
    locator = Locator.of_run(
        {"AZUREML_SERVICE_ENDPOINT": "http://host:1", "AZUREML_RUN_TOKEN": "t", "RUNYARD_SERVER_FILE": "/h/server.json"}
    )
    assert (locator.url, locator.token, locator.server_file) == ("http://host:1", "t", Path("/h/server.json"))


def test_a_token_is_not_shown_by_accident() -> None:
    assert "sesame" not in repr(Locator("http://host:1", "sesame"))


@pytest.mark.parametrize(
    ("name", "path"), [("a b/ü.txt", "a%20b/%C3%BC.txt"), ("x?y#z", "x%3Fy%23z"), ("\udcff", "%FF")]
)
def test_names_are_safe_in_an_address(name: str, path: str) -> None:
    assert quote(name) == path


def test_a_client_that_is_too_old_knows_how_it_was_installed() -> None:
    document = {"code": "client_too_old", "title": "Too old.", "help": "Upgrade it.", "status": 426, "detail": {}}
    found = problem(426, json.dumps(document).encode(), "http://x")
    assert "-m pip install --upgrade --editable" in found.help, "the tests run in a clone"
