"""uvicorn as Runyard runs it: an application that cannot start raises, and open streams do not hold up the end."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
from fastapi import FastAPI

from runyard.server.sockets import listen
from runyard.server.uvicorn_server import Server


def app_of(events: list[str], broken: bool = False) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if broken:
            raise RuntimeError("no database")
        app.state.live = SimpleNamespace(close=lambda: events.append("streams closed"))
        events.append("opened")
        yield
        events.append("closed")

    return FastAPI(lifespan=lifespan)


def test_it_reports_when_requests_are_answered_and_closes_streams_before_it_ends() -> None:
    events: list[str] = []
    listening = threading.Event()
    server = Server(app_of(events), listening.set)
    with listen("127.0.0.1", 0, None) as listener:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
        thread.start()
        try:
            assert listening.wait(60)
            with socket.create_connection(listener.getsockname(), timeout=60) as client:
                client.sendall(b"GET /nothing HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
                assert client.recv(100).startswith(b"HTTP/1.1 404")
        finally:
            server.end()
            thread.join(60)
    assert not thread.is_alive()
    assert events == ["opened", "streams closed", "closed"]


def test_an_application_that_cannot_start_raises() -> None:
    with listen("127.0.0.1", 0, None) as listener, pytest.raises(RuntimeError, match="no database"):
        asyncio.run(Server(app_of([], broken=True)).serve([listener]))
