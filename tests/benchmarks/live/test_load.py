"""If this fails, one server holds fewer live runs than it should: something of them is lost, or others wait for it."""

from __future__ import annotations

import asyncio
import statistics
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.live.simulated_runs import POINTS, Simulation
from tests.server.conftest import serve

from runyard.server.settings import Settings

if TYPE_CHECKING:
    from tests.server.conftest import Client

pytestmark = pytest.mark.slow

RUNS = 150
READS = 15
SLOWER = 25.0
"""How many times as long a read may take as on an idle server. Behind all deliveries it would take hundreds."""


def test_many_live_runs_lose_nothing_and_reads_stay_quick(home: Path) -> None:
    with serve(Settings(home=home, token="t" * 20, secret="s3cret")) as served:
        runs = [served.client.make_run()["id"] for _ in range(RUNS)]
        idle = _read(served.client, runs[0])
        over, busy = threading.Event(), []

        async def live() -> Simulation:
            simulation = Simulation(served.client.url)
            for run_id in runs:
                await simulation.begin(run_id, served.token_of(run_id))
            await asyncio.get_running_loop().run_in_executor(None, over.wait)
            simulation.close()
            return simulation

        driven = []
        thread = threading.Thread(target=lambda: driven.append(asyncio.run(live()).driven))
        thread.start()
        try:
            _wait_for_all(served.client, runs)
            busy = _read(served.client, runs[0])
        finally:
            over.set()
            thread.join()
        assert driven[0].errors == []
        assert statistics.median(busy) < SLOWER * statistics.median(idle)
        for run_id in runs[::10]:
            _wait_for_as_many_lines_as_points(served.client, run_id)


def _read(client: Client, run_id: str) -> list[float]:
    """How long the list of runs and the page of one took."""
    samples = []
    for _ in range(READS):
        began = time.perf_counter()
        client.ok("GET", "/api/runs?workspace=local&limit=100")
        client.ok("GET", f"/api/runs/{run_id}")
        samples.append(time.perf_counter() - began)
    return samples


def _wait_for_all(client: Client, runs: list[str]) -> None:
    """Until every run has delivered something."""
    deadline = time.monotonic() + 300
    for run_id in runs:
        while not client.ok("GET", f"/api/runs/{run_id}/files")["files"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def _wait_for_as_many_lines_as_points(client: Client, run_id: str) -> None:
    """The server may still be at work on the last delivery: its bytes are written first, its points are stored then."""
    deadline = time.monotonic() + 60
    while True:
        lines = client.get(f"/api/runs/{run_id}/files/user_logs/std_log.txt").body.count(b"\n")
        found = client.ok("GET", f"/api/runs/{run_id}/metrics")["metrics"][run_id]
        assert [metric["steps"] for metric in found] == [list(range(metric["count"])) for metric in found]
        if [metric["count"] for metric in found] == [lines] * POINTS and lines:
            return
        assert time.monotonic() < deadline, (lines, [metric["count"] for metric in found])
        time.sleep(0.05)
