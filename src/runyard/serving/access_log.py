"""One line of JSON for each request, written a few at a time."""

from __future__ import annotations

import json
import sys
import time

from runyard.serving.http.message import Request, Response

WRITE_SECONDS = 0.2
MOST_LINES = 500


class AccessLog:
    """`write` is for the end of each turn: lines wait for a moment, and go to standard output together."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._lines: list[str] = []
        self._written = time.monotonic()

    def add(self, request: Request, response: Response, seconds: float) -> None:
        if not self._wanted:
            return
        head = request.head
        path, client = json.dumps(head.path), head.headers.get("x-ms-client-request-id", "")
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(request.at))
        line = (
            f'{{"time": "{stamp}.{int(request.at * 1000) % 1000:03d}Z", "method": "{head.method}", "path": {path}, '
            f'"status": {response.status}, "ms": {seconds * 1000:.3f}, "bytes_in": {len(request.body)}, '
            f'"bytes_out": {len(response.body)}, "request_id": {json.dumps(request.request_id)}'
        )
        if response.seconds is not None:
            line += f', "run_ms": {response.seconds * 1000:.3f}'
        if client:
            line += f', "client_request_id": {json.dumps(client)}'
        self._lines.append(line + "}\n")

    def write(self, now: float, at_once: bool = False) -> None:
        if self._lines and (at_once or now - self._written > WRITE_SECONDS or len(self._lines) >= MOST_LINES):
            self._written = now
            lines, self._lines = self._lines, []
            sys.stdout.write("".join(lines))
            sys.stdout.flush()

    @property
    def waits(self) -> bool:
        return bool(self._lines)
