"""If these fail, a worker stops taking connections, loses those that wait, or cuts off clients while it drains."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from runyard.serving.http import loop as loops
from runyard.serving.http.connection import Connection
from runyard.serving.http.loop import Loop, PlainPoller
from runyard.serving.http.message import Request, Response
from runyard.serving.listener import bind

REQUEST = b"GET / HTTP/1.1\r\nHost: me\r\n\r\n"


def answered(connection: Connection, request: Request) -> None:
    connection.respond(Response(b"yes", content_type="text/plain"))


@pytest.fixture(params=["epoll", "poll"])
def loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loop]:
    if request.param == "poll":
        monkeypatch.setattr(loops, "_poller", PlainPoller)
        monkeypatch.setattr(loops, "_EXCLUSIVE", 0)
    made = Loop(bind("127.0.0.1", 0), answered, 1000)
    made.take()
    yield made
    made.close()


def client_of(loop: Loop) -> socket.socket:
    assert loop._listening is not None
    return socket.create_connection(loop._listening.getsockname()[:2], timeout=30)


def until(loop: Loop, holds: object) -> None:
    end = time.monotonic() + 30
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end
        loop.turn(0.05)


def test_clients_are_taken_and_answered(loop: Loop) -> None:
    with client_of(loop) as client:
        client.sendall(REQUEST)
        until(loop, lambda: any(each.answered for each in loop.connections.values()))
        assert client.recv(1000).endswith(b"\r\n\r\nyes")
    until(loop, lambda: not loop.connections)


def test_waking_ends_a_wait_and_brings_signals(loop: Loop) -> None:
    seen: list[int] = []
    loop.signalled = seen.append
    loop.wake()
    loop.turn(30)
    import os

    os.write(loop.wake_descriptor, b"\x0f")
    until(loop, lambda: seen == [15])


def test_put_off_connections_are_taken_later(loop: Loop) -> None:
    loop.put_off(0.2)
    with client_of(loop) as client:
        client.sendall(REQUEST)
        loop.turn(0)
        assert not loop.connections
        until(loop, lambda: loop.connections)


def test_draining_answers_what_comes_on_open_connections_and_then_closes_them(loop: Loop) -> None:
    with client_of(loop) as busy, client_of(loop) as idle, client_of(loop) as waiting:
        until(loop, lambda: len(loop.connections) == 3)
        with client_of(loop) as late:  # in the kernel's queue
            loop.drain()
            assert len(loop.connections) == 4
            busy.sendall(REQUEST)
            late.sendall(REQUEST)
            until(loop, lambda: len(loop.connections) == 2)
            assert b"connection: close" in busy.recv(1000)
            assert b"connection: close" in late.recv(1000)
        until(loop, lambda: not loop.connections)
        assert idle.recv(10) == b""
        assert waiting.recv(10) == b""
