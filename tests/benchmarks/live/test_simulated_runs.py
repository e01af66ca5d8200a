"""If this fails, what the benchmark measures is not what node runners do."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.live.simulated_runs import POINTS, drive
from tests.server.conftest import serve

from runyard.server.settings import Settings

pytestmark = pytest.mark.slow


def test_simulated_runs_deliver_lines_and_points_at_the_pace_of_the_server(home: Path) -> None:
    with serve(Settings(home=home, token="t" * 20, secret="s3cret")) as served:
        runs = [served.client.make_run()["id"] for _ in range(3)]
        driven = drive(served.client.url, served.token_of, runs, 3.0)
        assert driven.errors == []
        assert len(driven.latencies) == len(driven.round_trips) >= len(runs)
        for run_id in runs:
            found = served.client.ok("GET", f"/api/runs/{run_id}/metrics")["metrics"][run_id]
            seconds = found[0]["count"]
            assert [metric["count"] for metric in found] == [seconds] * POINTS
            log = served.client.get(f"/api/runs/{run_id}/files/user_logs/std_log.txt").body
            assert log.count(b"\n") == seconds > 0
