"""Live runs without processes: each speaks the protocol of a node runner over a connection of its own.

A simulated run logs a line and five points a second, and delivers as a node runner does: at the pace that the server
sets, and with the response held in between. So thousands of them fit into one process, and the server does for each
what it does for a real one.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast
from urllib.parse import quote, urlsplit

from runyard.contracts.delivery import PATIENCE

POINTS = 5
LINE = b"step %08d: loss 0.12345, accuracy 0.98765, 1234 examples a second\n"
POINT = b'["v","metric-%d",%.6f,%.3f,%d]\n'


@dataclass
class Driven:
    """What came of it. `latencies` are seconds from the oldest byte of a delivery to its receipt, `round_trips` from
    the request to the receipt; `errors` is what went wrong, once for each time."""

    latencies: list[float] = field(default_factory=list)
    round_trips: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def drive(
    url: str, token_of: Callable[[str], str], runs: Sequence[str], seconds: float, silent: bool = False
) -> Driven:
    """Let runs that the server has live for so many seconds. Silent ones send heartbeats alone."""
    return asyncio.run(drive_here(url, token_of, runs, seconds, silent))


async def drive_here(
    url: str, token_of: Callable[[str], str], runs: Sequence[str], seconds: float, silent: bool = False
) -> Driven:
    """The same within an event loop, beside other things."""
    yard = Simulation(url, silent)
    for number, run_id in enumerate(runs):
        await yard.begin(run_id, token_of(run_id))
        if number % 50 == 49:
            await asyncio.sleep(0.05)  # they do not all begin in the same moment
    await asyncio.sleep(seconds)
    yard.close()
    return yard.driven


class Simulation:
    """Runs that live side by side, from the moment in which each of them is added."""

    def __init__(self, url: str, silent: bool = False) -> None:
        self.driven = Driven()
        self._parts, self._silent = urlsplit(url), silent
        self._live: list[SimulatedRun] = []

    async def begin(self, run_id: str, token: str) -> None:
        run = SimulatedRun(run_id, token, self._parts.netloc, self.driven, self._silent)
        host, port = str(self._parts.hostname), self._parts.port or 80
        await asyncio.get_running_loop().create_connection(partial(_itself, run), host, port)
        self._live.append(run)

    def close(self) -> None:
        for run in self._live:
            run.close()


def _itself(run: SimulatedRun) -> SimulatedRun:
    return run


class SimulatedRun(asyncio.Protocol):
    """One run, and its connection to the server."""

    def __init__(self, run_id: str, token: str, host: str, driven: Driven, silent: bool) -> None:
        path = f"/api/runs/{quote(run_id)}/deliveries"
        self._head = (
            f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nX-Runyard-Protocol: 1\r\n"
            "Content-Length: "
        ).encode("ascii")
        self._driven, self._silent = driven, silent
        self._log = self._journal = self._seconds = 0
        self._began = self._last = time.time()
        self._sent: float | None = None
        self._received = b""
        self._pace = 0.0
        self._held = self._closed = False
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._deliver()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._closed:
            self._driven.errors.append(f"the connection was lost: {error}")
            self.close()

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._sent is not None and b"}\n" in self._received:
            self._check_receipt()
        if self._sent is None:
            self._end_of_response()

    def close(self) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            self._transport.abort()

    def _deliver(self) -> None:
        """Send what the script has written since the last time."""
        now = time.time()
        seconds = max(1, int(now - self._began) - self._seconds)
        first = self._seconds
        self._seconds += seconds
        log = b"".join(LINE % each for each in range(first, self._seconds))
        journal = b"".join(
            POINT % (metric, each / 7, self._began + each, each)
            for each in range(first, self._seconds)
            for metric in range(POINTS)
        )
        header = (
            b'{"parts":[{"log":"user_logs/std_log.txt","offset":%d,"length":%d},'
            b'{"journal":"1-main","offset":%d,"length":%d}],"hold":true,"patience":%d}\n'
        ) % (self._log, len(log), self._journal, len(journal), PATIENCE)
        body = b'{"parts":[],"hold":true,"patience":%d}\n' % PATIENCE if self._silent else header + log + journal
        self._log += len(log)
        self._journal += len(journal)
        self._sent = time.time()
        assert self._transport is not None
        self._transport.write(self._head + b"%d\r\n\r\n" % len(body) + body)

    def _check_receipt(self) -> None:
        assert self._sent is not None
        now = time.time()
        self._driven.round_trips.append(now - self._sent)
        self._driven.latencies.append(now - self._last)
        self._last, self._sent = self._sent, None
        start = self._received.find(b'{"')
        try:
            receipt = json.loads(self._received[start : self._received.index(b"}\n") + 1])
            answers = [part for part in receipt["parts"] if "problem" in part]
        except (ValueError, KeyError):
            self._driven.errors.append(self._received[:500].decode("utf-8", "replace"))
            self.close()
            return
        self._driven.errors.extend(str(each["problem"]) for each in answers)
        self._pace = float(receipt["pace"])
        self._held = "held" in receipt

    def _end_of_response(self) -> None:
        if self._closed:
            return
        if not self._held:
            self._received = b""
            self._timer = asyncio.get_running_loop().call_later(max(0.05, self._pace), self._deliver)
        elif self._received.endswith(b"0\r\n\r\n"):
            self._received = b""
            self._deliver()
