"""The gateway with real sockets: shares, waiting for the first replica, replicas that end, callers that misbehave."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.support.waiting import wait_until

from runyard.contracts.services.access import Access, hash_of
from runyard.contracts.services.plan import Route, Routes

LOCKED: dict[str, Any] = {"authentication": "key", "cors_origins": ["http://page"]}


class Replica(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    ends_first = 0

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if type(self).ends_first:
            type(self).ends_first -= 1
            self.close_connection = True
            return
        if self.path == "/chunked":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Nothing is printed in tests."""


@contextmanager
def replica(**changes: Any) -> Iterator[int]:
    """Something that echoes; its port."""
    kind = type("Echo", (Replica,), changes)
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()


class Gateway:
    """With routes it knows them before its first request."""

    def __init__(self, folder: Path, *routes: Route, **rules: Any) -> None:
        self._folder = folder
        if routes:
            self.route(*routes, **rules)
        settings = {
            "service": "mine",
            "status": str(folder / "status.json"),
            "routes": str(folder / "routes.json"),
            "listener": str(folder / "listener"),
            "access": str(folder / "access.json"),
            "max_request_bytes": 4_000_000,
            "host": "127.0.0.1",
            "port": 0,
            "wake_seconds": 20,
            "drain_seconds": 5,
        }
        (folder / "settings.json").write_text(json.dumps(settings))
        command = [sys.executable, "-m", "runyard.serving.gateway", str(folder / "settings.json")]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        wait_until(lambda: (folder / "status.json").exists(), "the gateway")

    def status(self) -> Any:
        return json.loads((self._folder / "status.json").read_text())

    def route(self, *routes: Route, **rules: Any) -> None:
        (self._folder / "routes.new").write_text(json.dumps(Routes(list(routes), **rules).as_dict()))
        os.replace(self._folder / "routes.new", self._folder / "routes.json")

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.status()["port"], timeout=30)

    def ask(self, body: bytes = b"hello", path: str = "/score") -> tuple[int, bytes, str | None]:
        connection = self.connect()
        connection.request("POST", path, body)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("X-Runyard-Version")


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    with started(tmp_path) as made:
        yield made


@contextmanager
def started(folder: Path, *routes: Route, **rules: Any) -> Iterator[Gateway]:
    made = Gateway(folder, *routes, **rules)
    yield made
    made.process.send_signal(signal.SIGTERM)
    assert made.process.wait(20) == 0


def test_requests_go_to_versions_by_their_shares(gateway: Gateway) -> None:
    with replica() as blue, replica() as green:
        gateway.route(Route("blue", 75, port=blue), Route("green", 25, port=green), Route("off", 0, port=1))
        wait_until(lambda: gateway.ask()[0] == 200)
        seen = [gateway.ask()[2] for _ in range(100)]
    assert set(seen) == {"blue", "green"}
    assert seen.count("blue") > seen.count("green")


def test_a_request_waits_for_the_first_replica_and_this_is_told(gateway: Gateway) -> None:
    gateway.route(Route("", 100))
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(gateway.ask(b"early")), daemon=True)
    asking.start()
    wait_until(lambda: gateway.status()["waiting"], "word of somebody who waits")
    connection = gateway.connect()
    connection.request("GET", "/")
    assert connection.getresponse().read() == b"Healthy", "liveness wakes nobody"
    with replica() as port:
        gateway.route(Route("", 100, port=port))
        asking.join(20)
    assert found == [(200, b"early", None)]
    wait_until(lambda: not gateway.status()["waiting"], "nobody who waits")


def test_a_request_that_waits_for_a_version_that_is_removed_goes_to_another(gateway: Gateway) -> None:
    gateway.route(Route("blue", 100))
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(gateway.ask(b"early")), daemon=True)
    asking.start()
    wait_until(lambda: gateway.status()["waiting"], "word of somebody who waits")
    with replica() as port:
        gateway.route(Route("green", 100, port=port))
        asking.join(20)
    assert found == [(200, b"early", "green")]


def test_a_replica_that_ends_without_an_answer_is_asked_again(gateway: Gateway) -> None:
    with replica(ends_first=1) as port:
        gateway.route(Route("", 100, port=port))
        assert gateway.ask(b"again")[:2] == (200, b"again")
    with replica(ends_first=100) as port:
        gateway.route(Route("", 100, port=port))
        wait_until(lambda: gateway.ask()[0] == 502, "that it gives up")


def test_a_connection_is_used_again_and_bodies_come_whole(gateway: Gateway) -> None:
    large = os.urandom(3_000_000)
    with replica() as port:
        gateway.route(Route("", 100, port=port))
        connection = gateway.connect()
        for body in (b"one", large, b""):
            connection.request("POST", "/score", body)
            assert connection.getresponse().read() == body
        connection.request("POST", "/score", iter([b"in ", b"pieces"]), {"Content-Length": "9"})
        assert connection.getresponse().read() == b"in pieces"
        connection.request("POST", "/chunked", b"")
        assert connection.getresponse().read() == b"abcde"


def test_connections_to_a_former_replica_are_closed(gateway: Gateway) -> None:
    """Otherwise each update of a service would take some of the descriptors of its gateway for ever."""

    def open_to(port: int) -> int:
        found = psutil.Process(gateway.process.pid).net_connections("tcp")
        return sum(1 for each in found if each.raddr and each.raddr.port == port)

    with replica() as former, replica() as present:
        gateway.route(Route("", 100, port=former))
        assert gateway.ask()[0] == 200
        assert open_to(former) == 1
        gateway.route(Route("", 100, port=present))
        wait_until(lambda: not open_to(former), "the end of it")
        assert gateway.ask()[0] == 200


def test_what_is_no_request_is_refused(gateway: Gateway) -> None:
    connection = gateway.connect()
    connection.connect()
    assert connection.sock is not None
    connection.sock.sendall(b"hello there\r\n\r\n")
    assert connection.sock.recv(100).startswith(b"HTTP/1.1 400")
    connection = gateway.connect()
    connection.putrequest("POST", "/score")
    connection.putheader("Content-Length", "many")
    connection.endheaders()
    assert connection.getresponse().status == 400
    assert gateway.ask(bytes(4_000_001))[0] == 413


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 3\r\nTransfer-Encoding: chunked",
        b"Content-Length: 3\r\nContent-Length: 30",
        b"Transfer-Encoding: chunked, gzip",
        b"Transfer-Encoding : chunked",
        b"X: a\nContent-Length: 3",
    ],
)
def test_what_two_servers_could_read_differently_is_passed_on_to_nobody(gateway: Gateway, headers: bytes) -> None:
    with replica() as port:
        gateway.route(Route("", 100, port=port))
        wait_until(lambda: gateway.ask()[0] == 200)
        with socket.create_connection(("127.0.0.1", gateway.status()["port"]), 20) as caller:
            caller.sendall(b"POST /score HTTP/1.1\r\nHost: me\r\n" + headers + b"\r\n\r\n0\r\n\r\n")
            said = b""
            while data := caller.recv(4096):
                said += data
    assert said.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501")), said
    assert said.count(b"HTTP/1.1") == 1


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Gateway]:
    """One without a replica, whose callers show the key `right`."""
    (tmp_path / "access.json").write_text(json.dumps(Access([hash_of("right")]).as_dict()))
    with started(tmp_path, Route("", 100), **LOCKED) as made:
        yield made


def test_who_may_not_call_wakes_nobody_nor_does_who_only_watches(locked: Gateway) -> None:
    """Otherwise anybody could keep a service up that is to cost nothing, or read its numbers."""

    def get(path: str, key: str = "wrong") -> tuple[int, bytes]:
        connection = locked.connect()
        connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
        answer = connection.getresponse()
        return answer.status, answer.read()

    assert locked.ask()[0] == 401
    assert get("/swagger.json")[0] == 401
    assert get("/ready") == (200, b'{"ready": true}')
    assert get("/v2/health/live") == (200, b'{"live": true}')
    assert get("/metrics") == (200, b""), "who asks from this machine"
    assert not locked.status()["waiting"]
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(get("/score", "right")), daemon=True)
    asking.start()
    wait_until(lambda: locked.status()["waiting"], "word of somebody who waits")
    with replica() as port:
        locked.route(Route("", 100, port=port), **LOCKED)
        asking.join(20)
        locked.route(Route("", 100, port=port))
        wait_until(lambda: locked.ask()[0] == 200, "that everybody may call")
    assert found[0][0] == 501, "the echo of this test has no GET"


def test_a_browsers_question_before_a_request_wakes_nobody(locked: Gateway) -> None:
    """It shows no key: otherwise anybody could start a service with it, again and again."""

    def options(origin: str) -> http.client.HTTPResponse:
        connection = locked.connect()
        headers = {"Origin": origin, "Access-Control-Request-Headers": "authorization"}
        connection.request("OPTIONS", "/score", headers=headers)
        return connection.getresponse()

    asleep = options("http://page")
    assert (asleep.status, asleep.read()) == (200, b"")
    assert asleep.getheader("Access-Control-Allow-Origin") == "http://page"
    assert asleep.getheader("Access-Control-Allow-Headers") == "authorization"
    assert options("http://other").getheader("Access-Control-Allow-Origin") is None
    assert not locked.status()["waiting"]
    with replica() as port:
        locked.route(Route("", 100, port=port), **LOCKED)
        wait_until(lambda: options("http://page").status == 501, "the replica's own answer")


def test_a_web_page_under_a_name_of_its_own_wakes_nobody(tmp_path: Path) -> None:
    with started(tmp_path, Route("", 100), allow_unauthenticated=False) as gateway:

        def ask(host: str) -> int:
            connection = gateway.connect()
            connection.request("POST", "/score", b"{}", {"Host": host})
            return connection.getresponse().status

        assert ask("evil.example") == 403
        assert not gateway.status()["waiting"]
        with replica() as port:
            gateway.route(Route("", 100, port=port), allow_unauthenticated=False)
            assert ask(f"localhost:{port}") == 200
            assert ask("evil.example") == 403
            gateway.route(Route("", 100, port=port), allow_unauthenticated=True)
            wait_until(lambda: ask("public.example") == 200, "that everybody may call")
