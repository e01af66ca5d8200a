"""How busy a replica is: by the time its calls took, not by what a look happens to see."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from runyard.scheduler.services.meters import Meter


def leave(folder: Path, at: float, seconds: float, running: int = 0, waiting: int = 0, version: str = "") -> None:
    (folder / "serving").mkdir(exist_ok=True)
    path = folder / "serving" / "status.json.metrics.0"
    labels = {"version": version} if version else {}
    values = {"call_seconds_sum": seconds, "calls_running": running, "calls_waiting": waiting}
    path.write_text(json.dumps([[name, labels, value] for name, value in values.items()]))
    os.utime(path, (at, at))


def test_what_counts_is_the_time_that_calls_took(tmp_path: Path) -> None:
    now = time.time()
    meter = Meter(tmp_path)
    assert meter.load().busy == 0.0
    leave(tmp_path, now - 2, 10.0, running=1)
    assert meter.load().busy == 0.0, "one look says nothing of the time between two"
    leave(tmp_path, now - 1, 10.25, running=1)
    assert round(meter.load().busy, 2) == 0.25
    leave(tmp_path, now, 10.25, running=1, waiting=2)
    load = meter.load()
    assert (load.busy, load.waiting) == (1.0, 2.0), "a call that goes on for the whole time"


def test_a_process_that_was_started_anew_or_has_fallen_silent(tmp_path: Path) -> None:
    now = time.time()
    meter = Meter(tmp_path)
    leave(tmp_path, now - 20, 10.0)
    meter.load()
    leave(tmp_path, now - 19, 0.0)
    assert meter.load().busy == 0.0
    leave(tmp_path, now - 18, 0.8)
    assert meter.load().busy > 0
    assert meter.load().busy == 0.0, "nothing was heard for long"


def test_a_gateway_tells_versions_apart(tmp_path: Path) -> None:
    now = time.time()
    meter = Meter(tmp_path)
    leave(tmp_path, now - 1, 1.0, version="blue")
    meter.load("blue")
    leave(tmp_path, now, 2.0, version="blue")
    assert round(meter.load("blue").busy) == 1
    assert meter.load("green").busy == 0.0


def test_what_cannot_be_read_is_no_load(tmp_path: Path) -> None:
    leave(tmp_path, time.time(), 1.0)
    (tmp_path / "serving" / "status.json.metrics.0").write_text("{")
    assert Meter(tmp_path).load().busy == 0.0
