"""The health check of a service: GET / on its port, as a balancer would ask."""

from __future__ import annotations

import socket
import threading
import time

from runyard.contracts.services.settings import Probes

_REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nUser-Agent: runyard-probe\r\n\r\n"


def answers(host: str, port: int, timeout: float) -> bool:
    """Whether the service answers a health check in time."""
    address = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    try:
        with socket.create_connection((address, port), timeout) as connection:
            connection.settimeout(timeout)
            connection.sendall(_REQUEST)
            return connection.recv(64).startswith((b"HTTP/1.1 200", b"HTTP/1.0 200"))
    except OSError:
        return False


class Prober:
    """Asks in a thread of its own, so that a service that hangs holds up nobody; one question at a time."""

    def __init__(self, host: str, probes: Probes) -> None:
        self._host, self._probes = host, probes
        self._next = 0.0
        self._asking: threading.Thread | None = None
        self.failures = 0  # in a row

    def reset(self) -> None:
        """The process is a new one."""
        self.failures, self._next = 0, time.monotonic() + self._probes.period_seconds

    def look(self, port: int) -> bool:
        """Ask if it is time to; whether the service has failed to answer as often as it may."""
        busy = self._asking is not None and self._asking.is_alive()
        if not busy and time.monotonic() >= self._next:
            self._next = time.monotonic() + self._probes.period_seconds
            self._asking = threading.Thread(target=self._ask, args=(port,), daemon=True)
            self._asking.start()
        return self.failures >= self._probes.failure_threshold

    def _ask(self, port: int) -> None:
        self.failures = 0 if answers(self._host, port, self._probes.timeout_seconds) else self.failures + 1
