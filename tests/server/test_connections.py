"""If these fail, somebody without a token can lock everybody else out of the server."""

from __future__ import annotations

import contextlib
import http.client
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.server.conftest import PATIENCE, Client, Reporter, Served, serve
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from runyard.contracts.home import read_server, read_token
from runyard.server import connections, uvicorn_server
from runyard.server.settings import Settings

WAIT = 150.0  # for a server process on a busy machine
HALF = b"GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: "


@pytest.fixture(params=[(HttpToolsProtocol, "uvloop"), (H11Protocol, "asyncio")], ids=["httptools", "h11"])
def start(home: Path, request: pytest.FixtureRequest) -> Callable[[], contextlib.AbstractContextManager[Served]]:
    """Starts a server with what is installed, and with what does without it."""
    protocol, loop = request.param
    return lambda: serve(Settings(home=home, token="user", secret="s3cret"), protocol=protocol, loop=loop)


@pytest.fixture
def line() -> Iterator[Callable[..., socket.socket]]:
    """Opens connections, and says something on them."""
    with contextlib.ExitStack() as stack:

        def connect(url: str, said: bytes = b"") -> socket.socket:
            parts = urlsplit(url)
            opened = stack.enter_context(socket.create_connection((str(parts.hostname), parts.port), PATIENCE))
            opened.sendall(said)
            return opened

        yield connect


def request(path: str = "/api/server", token: str = "user") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


def answer(opened: socket.socket) -> int:
    """The status of the next answer; 0 when the server has hung up."""
    response = http.client.HTTPResponse(opened)
    try:
        response.begin()
        response.read()
    except (ConnectionResetError, http.client.RemoteDisconnected):
        return 0
    return response.status


def is_open(opened: socket.socket) -> bool:
    opened.setblocking(False)
    try:
        return opened.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


def wait_until(met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.02)


Line = Callable[..., socket.socket]
Start = Callable[[], contextlib.AbstractContextManager[Served]]


def test_a_head_that_does_not_end_is_not_waited_for(start: Start, line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 2.0)
    with start() as served:
        silent, slow, user = line(served.client.url), line(served.client.url, HALF), line(served.client.url, request())
        assert answer(user) == 200
        assert answer(silent) == answer(slow) == 0
        user.sendall(request())  # nothing has ended what only waits for the next request
        assert answer(user) == 200
        user.sendall(HALF)
        assert answer(user) == 0


def test_a_head_without_end_is_cut_off(start: Start, line: Line) -> None:
    with start() as served:
        endless = line(served.client.url, HALF)
        assert poured_into(endless) < 64 << 20
        assert served.client.get("/health").status == 200


def poured_into(opened: socket.socket) -> int:
    """How many bytes go out before the server ends it; what the buffers between the two hold is among them."""
    sent = 0
    with contextlib.suppress(OSError):
        while sent < 1 << 30:
            sent += opened.send(b"x" * (1 << 16))
    return sent


def test_a_body_is_not_read_without_a_token(start: Start, line: Line) -> None:
    """The answer comes though the body does not, and whoever sends it all the same is cut off."""
    head = b"PUT /api/objects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\nContent-Length: %d\r\n\r\n"
    with start() as served:
        stranger = line(served.client.url, head % (1 << 30) + b"the beginning")
        assert answer(stranger) == 401
        assert poured_into(stranger) < 64 << 20
        small = line(served.client.url, head % 20)
        assert answer(small) == 401
        small.sendall(bytes(20) + request())  # what came after a refused body is heard
        assert answer(small) == 200


def test_of_too_many_strangers_the_oldest_go_and_nobody_else(start: Start, line: Line) -> None:
    with start() as served:
        known = line(served.client.url, request())
        assert answer(known) == 200
        first = [line(served.client.url, HALF) for _ in range(connections.STRANGERS)]
        later = [line(served.client.url, HALF) for _ in range(10)]
        wait_until(lambda: not any(map(is_open, first[:10])))
        assert all(map(is_open, first[10:] + later))
        known.sendall(request())
        assert answer(known) == 200


def test_who_has_asked_nothing_for_the_longest_time_goes_when_there_are_too_many(
    start: Start, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uvicorn_server, "most_connections", lambda: 8)
    with start() as served:
        run = served.client.make_run()
        with served.client.events(run["id"]) as events:
            next(events)
            idle = [line(served.client.url, request()) for _ in range(7)]
            assert {answer(each) for each in idle} == {200}
            more = line(served.client.url, request())
            assert answer(more) == 200
            wait_until(lambda: not is_open(idle[0]))
            assert all(map(is_open, idle[1:]))
            served.client.end(run)
            assert next(events)


def test_a_response_is_held_only_while_there_is_room(start: Start, line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reporter that waits takes no descriptor that others need."""
    monkeypatch.setattr(uvicorn_server, "most_connections", lambda: 8)
    with start() as served:
        reporter = Reporter(served.client, served.client.make_run())
        with reporter.held() as (receipt, _):
            assert "held" in receipt
        idle = [line(served.client.url, request()) for _ in range(6)]
        assert {answer(each) for each in idle} == {200}
        assert "held" not in reporter.deliver(hold=True)


def test_as_many_descriptors_are_used_as_the_system_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: asked.append(limits))
    for soft, hard in ((1024, 4096), (4096, 4096), (1024, resource.RLIM_INFINITY), (1024, 1 << 20)):
        monkeypatch.setattr(resource, "getrlimit", lambda which, found=(soft, hard): found)
        connections.raise_limit()
    most = connections.MOST_DESCRIPTORS
    assert asked == [(4096, 4096), (most, resource.RLIM_INFINITY), (most, 1 << 20)]


def test_the_link_to_a_page_is_good_enough(start: Start, line: Line) -> None:
    with start() as served:
        link = urlsplit(served.client.make_run()["web_url"])
        reader = line(served.client.url, request(f"{link.path}?{link.query}", "none"))
        assert answer(reader) == 200
        strangers = [line(served.client.url, HALF) for _ in range(connections.STRANGERS + 5)]
        wait_until(lambda: not any(map(is_open, strangers[:5])))
        reader.sendall(request("/health"))
        assert answer(reader) == 200


def test_five_hundred_half_open_requests_lock_nobody_out(home: Path, line: Line) -> None:
    """With 256 descriptors, and nobody in a hurry to leave."""
    limited = ["sh", "-c", 'ulimit -n 256 && exec "$@"', "sh", sys.executable, "-m", "runyard.server", "--port", "0"]
    known = {name: value for name, value in os.environ.items() if not name.startswith("RUNYARD_")}
    server = subprocess.Popen(limited, env={**known, "RUNYARD_HOME": str(home)}, stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: read_server(home) is not None)
        running = read_server(home)
        assert running is not None
        client = Client(running.url, read_token(home))
        kept = [line(running.url, HALF) for _ in range(250)]
        run = client.make_run()
        kept += [line(running.url, HALF) for _ in range(250)]
        assert client.get("/health").status == 200
        client.ok("PUT", f"/api/runs/{run['id']}/files/outputs/a", body=b"x" * 100_000)
        assert client.ok("GET", f"/api/runs/{run['id']}")["id"] == run["id"]
        assert len(os.listdir(f"/proc/{server.pid}/fd")) < 200
    finally:
        server.terminate()
        said = server.communicate(timeout=PATIENCE)[1]
    assert "Too many open files" not in said
