"""Measuring a service: requests over connections that are kept, until enough of them were answered."""

from __future__ import annotations

import threading
import time
from typing import Any, Mapping, Sequence

from runyard.client.exchange import Connection
from runyard.sdk.webservice.scoring import parts_of
from runyard.system.records import field, record

LEAST_REQUESTS = 200
"""Answered requests that make a measurement, however few rows the dataset has."""
LONGEST_SECONDS = 10.0
PATIENCE = 60.0


@record()
class Measurement:
    """What came of the requests. Latencies are in milliseconds, and of those that succeeded."""

    seconds: float = 0.0
    asked: int = 0
    latencies: list[float] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)  # how often each answer came that is no success

    @property
    def succeeded(self) -> int:
        return len(self.latencies)

    @property
    def per_second(self) -> float:
        return self.succeeded / self.seconds if self.seconds else 0.0

    @property
    def average(self) -> float | None:
        return sum(self.latencies) / len(self.latencies) if self.latencies else None

    def percentile(self, percent: float) -> float | None:
        """The latency that so many percent of the requests did not exceed."""
        if not self.latencies:
            return None
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def measured(
    uri: str,
    bodies: Sequence[bytes],
    headers: Mapping[str, str],
    connections: int,
    least: int | None = None,
    longest: float = LONGEST_SECONDS,
) -> Measurement:
    """Ask a service from so many connections at once: every body at least once, until `least` requests (200) were
    answered or `longest` seconds have passed, whichever is first."""
    wanted = LEAST_REQUESTS if least is None else least
    shared = _Shared(bodies, max(wanted, len(bodies)), time.monotonic() + longest)
    threads = [
        threading.Thread(target=_asked, args=(uri, dict(headers), shared), daemon=True) for _ in range(connections)
    ]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result = shared.result
    result.seconds = time.perf_counter() - begun
    return result


class _Shared:
    """What the threads of a measurement have in common."""

    def __init__(self, bodies: Sequence[bytes], wanted: int, deadline: float) -> None:
        self.result = Measurement()
        self._bodies, self._wanted, self._deadline = bodies, wanted, deadline
        self._lock = threading.Lock()

    def next(self) -> bytes | None:
        """The next request; None when there were enough."""
        with self._lock:
            asked = self.result.asked
            if asked >= self._wanted or time.monotonic() > self._deadline:
                return None
            self.result.asked += 1
            return self._bodies[asked % len(self._bodies)]

    def answered(self, milliseconds: float, refused: str) -> None:
        with self._lock:
            if refused:
                self.result.refused[refused] = self.result.refused.get(refused, 0) + 1
            else:
                self.result.latencies.append(milliseconds)


def _asked(uri: str, headers: dict[str, str], shared: _Shared) -> None:
    host, port, secure, target = parts_of(uri)
    connection: Any = None
    try:
        while (body := shared.next()) is not None:
            connection = connection or Connection(host, port, secure=secure, timeout=PATIENCE)
            begun = time.perf_counter()
            refused = ""
            try:
                connection.request("POST", target, body, headers)
                response = connection.getresponse()
                said = response.read()
                if response.status != 200:
                    refused = f"{response.status}: {said[:200].decode('utf-8', 'replace')}"
                if response.will_close:
                    connection.close()
                    connection = None
            except OSError as error:
                refused = f"no answer ({error})"
                connection.close()
                connection = None
            shared.answered((time.perf_counter() - begun) * 1000, refused)
    finally:
        if connection is not None:
            connection.close()
