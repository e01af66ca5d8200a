"""Passing requests of MLflow's client on to the server, with the token of the run, and its answers back, in pieces."""

from __future__ import annotations

import http.client
import time
from pathlib import Path
from typing import Iterator
from urllib.parse import urlsplit

from runyard.client.http import Locator
from runyard.contracts.plan import Plan
from runyard.node.mlflow.listener import PIECE, Reply, Request

TRY_EVERY = 0.2
TIMEOUT = 120.0

_PASSED = ("content-type", "range", "accept", "user-agent")
_BACK = ("Content-Type", "Content-Disposition", "Content-Range", "Accept-Ranges", "X-Content-Type-Options")


class Away(Exception):
    """The server has not answered in time."""


class Server:
    def __init__(self, plan: Plan) -> None:
        file = Path(plan.server_file) if plan.server_file else None
        self._locator = Locator(plan.server_url, plan.token, file)
        self._url = plan.server_url

    @property
    def address(self) -> str:
        """Where it was last found."""
        return self._url.rstrip("/")

    def ask(self, request: Request, body: bytes | None = None, patience: float = 0.0) -> Reply:
        """The server's answer; `Away` when there is none for so many seconds. A body that was not read yet can be sent
        once only."""
        streamed = body is None and request.method in ("PUT", "POST", "PATCH", "DELETE")
        told = "transfer-encoding" not in request.headers
        if streamed and told and int(request.headers.get("content-length") or 0) <= PIECE:
            body, streamed = b"".join(request.body.pieces()), False
        deadline = time.monotonic() + patience
        while True:
            try:
                return self._ask(request, body, streamed, min(TIMEOUT, max(patience, 1.0)))
            except (OSError, http.client.HTTPException) as error:
                moved = self._locator.moved()
                self._url = moved or self._url
                if streamed or time.monotonic() >= deadline:
                    raise Away(str(error) or type(error).__name__) from error
                time.sleep(TRY_EVERY)

    def _ask(self, request: Request, body: bytes | None, streamed: bool, timeout: float) -> Reply:
        address = urlsplit(self._url)
        kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = kind(address.hostname or "", address.port, timeout=timeout)
        headers = {name: request.headers[name] for name in _PASSED if name in request.headers}
        headers["Authorization"] = f"Bearer {self._locator.token}"
        sent: bytes | Iterator[bytes] | None = body
        if streamed:
            sent = request.body.pieces()
            if "content-length" in request.headers:
                headers["Content-Length"] = request.headers["content-length"]
        target = address.path.rstrip("/") + request.target
        try:
            connection.request(request.method, target, sent, headers, encode_chunked="Content-Length" not in headers)
            response = connection.getresponse()
        except BaseException:
            connection.close()
            raise
        back = tuple((name, value) for name in _BACK if (value := response.getheader(name)) is not None)
        length = response.getheader("Content-Length")
        return Reply(response.status, _pieces(connection, response), None if length is None else int(length), back)


def _pieces(connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> Iterator[bytes]:
    try:
        while True:
            piece = response.read(PIECE)
            if not piece:
                return
            yield piece
    finally:
        connection.close()
