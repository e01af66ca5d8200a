"""uvicorn, as Runyard runs it: it opens the application itself, tells when it listens, and ends promptly."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI


class Server(uvicorn.Server):
    """`started` is called once requests are answered. An application that cannot start raises out of `run`."""

    def __init__(self, app: FastAPI, started: Callable[[], None] = lambda: None) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                # Not uvicorn's: it would log an error at the start instead of raising it.
                lifespan="off",
                ws="none",
                timeout_keep_alive=60,
                timeout_graceful_shutdown=1,
            )
        )
        self._runyard = app
        self._started = started

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        async with self._runyard.router.lifespan_context(self._runyard):
            await super().serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # uvicorn waits for the answers that are under way, and an event stream is one that has no end of its own.
        self._runyard.state.live.close()
        await super().shutdown(sockets)
