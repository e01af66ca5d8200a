"""What the server counts about itself. Plain numbers, so that counting costs next to nothing and starting costs no
import; `runyard.server.middleware.exposition` puts them into Prometheus' form when somebody asks."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper ends of the buckets of request times, in seconds."""


ANSWERED = "runyard.answered"
"""In the scope of a request: when it was answered, if its response is left open after that."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@dataclass
class Durations:
    """How long the requests of one route took: how many fell into each bucket (the last has no end), and their sum."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


class Meters:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.requests: dict[tuple[str, str, int], int] = {}
        self.durations: dict[tuple[str, str], Durations] = {}
        self.records = 0
        self.bytes_stored = 0

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered. Called on the event loop only."""
        key = (method, route, status)
        self.requests[key] = self.requests.get(key, 0) + 1
        self.durations.setdefault((method, route), Durations()).add(seconds)

    def stored(self, size: int) -> None:
        """Bytes of files, logs, snapshots or journals were taken in."""
        with self._lock:
            self.bytes_stored += size

    def recorded(self, records: int) -> None:
        """Records of journals have come; those that come twice count twice."""
        with self._lock:
            self.records += records


class Metered:
    """ASGI middleware that counts requests by the template of their route, never by their path."""

    def __init__(self, app: ASGIApp, meters: Meters) -> None:
        self._app = app
        self._meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 500

        async def watched_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched_send)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            # A client may send any text as its method: each one that is counted would stay in memory.
            method = scope["method"] if scope["method"] in METHODS else "other"
            ended = scope.get(ANSWERED) or time.perf_counter()
            self._meters.answered(method, route, status, ended - began)
