"""If this fails, what the benchmark measures is not what node runners do."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from benchmarks.live.simulated_runs import POINTS, drive
from tests.server.conftest import Client, serve
from tests.support.waiting import wait_until

from runyard.server.settings import Settings

pytestmark = pytest.mark.slow


def test_simulated_runs_deliver_lines_and_points_at_the_pace_of_the_server(home: Path) -> None:
    with serve(Settings(home=home, token="t" * 20, secret="s3cret")) as served:
        runs = [served.client.make_run()["id"] for _ in range(3)]
        driven = drive(served.client.url, served.token_of, runs, 3.0)
        assert driven.errors == []
        assert len(driven.latencies) == len(driven.round_trips) >= len(runs)
        for run_id in runs:
            # what was under way at the end may be stored a moment later
            wait_until(partial(_has_as_many_lines_as_points, served.client, run_id), "as many lines as points", 20)


def _has_as_many_lines_as_points(client: Client, run_id: str) -> bool:
    found = client.ok("GET", f"/api/runs/{run_id}/metrics")["metrics"][run_id]
    seconds = found[0]["count"]
    log = client.get(f"/api/runs/{run_id}/files/user_logs/std_log.txt").body
    return [metric["count"] for metric in found] == [seconds] * POINTS and log.count(b"\n") == seconds > 0
