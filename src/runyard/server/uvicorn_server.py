"""uvicorn, as Runyard runs it: it opens the application itself, reports when it listens, and ends promptly.

uvloop and httptools are used where they are installed: a request costs a third less with them.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from runyard.server.connections import QUIET_SECONDS, Connections, accept, most_connections, watched


class Server(uvicorn.Server):
    """`started` is called once requests are answered. An application that cannot start raises out of `run`."""

    def __init__(
        self,
        app: FastAPI,
        started: Callable[[], None] = lambda: None,
        protocol: type[asyncio.Protocol] = AutoHTTPProtocol,
        loop: Any = "auto",
    ) -> None:
        self._connections = Connections(most_connections())
        super().__init__(
            uvicorn.Config(
                app,
                http=watched(protocol, self._connections),
                loop=loop,
                log_config=None,
                access_log=False,
                server_header=False,
                # Not uvicorn's: it would log an error at the start instead of raising it.
                lifespan="off",
                ws="none",
                timeout_keep_alive=int(QUIET_SECONDS),
                timeout_graceful_shutdown=1,
            )
        )
        self._runyard = app
        self._started = started
        self._accepting: list[asyncio.Task[None]] = []
        self._wake: Callable[[], object] = lambda: None

    def end(self) -> None:
        """Stop serving. May be called from any thread, and by the handler of a signal."""
        self.should_exit = True
        with contextlib.suppress(RuntimeError):  # it has ended meanwhile, and its loop is closed
            self._wake()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.end()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        async with self._runyard.router.lifespan_context(self._runyard):
            await super().serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])  # none: connections are accepted here
        for each in sockets or ():
            self._accepting.append(asyncio.create_task(accept(each, self._connection, self._connections)))
        self._started()

    async def main_loop(self) -> None:
        """Once a second, and when it is to end. uvicorn's looks for that ten times a second, and an idle server would
        do nothing else."""
        ending = asyncio.Event()
        self._wake = partial(asyncio.get_running_loop().call_soon_threadsafe, ending.set)
        while not await self.on_tick(0):
            self._connections.sweep()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(ending.wait(), 1.0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for each in self._accepting:
            each.cancel()
        # uvicorn waits for the answers that are under way, and an event stream is one that has no end of its own.
        self._runyard.state.live.close()
        await super().shutdown(sockets)

    def _connection(self) -> asyncio.Protocol:
        kind: Any = self.config.http_protocol_class
        made: asyncio.Protocol = kind(self.config, self.server_state, self.lifespan.state)
        return made
