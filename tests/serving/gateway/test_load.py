"""The load of a gateway as whoever scales a service reads it: if it were wrong, replicas would come late or stay."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from runyard.scheduler.services.meters import Meter
from runyard.serving.gateway import load
from runyard.serving.gateway.load import Loads


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that a gateway sees: a test sets them."""
    now = [100.0]
    monkeypatch.setattr(load, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_the_seconds_of_requests_are_added_up_while_they_go_on(clock: list[float]) -> None:
    one = Loads("nowhere").of("")
    clock[0] += 10
    one.change(waiting=1)
    clock[0] += 5
    assert one.seconds == 0.0, "waiting for a replica keeps none busy"
    one.change(running=1, waiting=-1)
    clock[0] += 2
    one.change(running=1)
    clock[0] += 3
    assert (one.seconds, one.running, one.waiting) == (2 + 2 * 3, 2, 0)
    one.change(running=-2)
    clock[0] += 60
    assert one.seconds == 8.0


def test_what_is_left_in_the_file_is_what_the_scheduler_reads(tmp_path: Path, clock: list[float]) -> None:
    (tmp_path / "serving").mkdir()
    path = tmp_path / "serving" / "status.json.metrics.0"
    loads, meter, now = Loads(str(path)), Meter(tmp_path), time.time()
    loads.of("blue").change(running=3)
    loads.of("green").change(waiting=2)
    assert (loads.running, loads.waiting) == (3, 2)
    for second in (1, 0):
        clock[0] += 1
        loads.write()
        os.utime(path, (now - second, now - second))
        seen = {version: meter.load(version) for version in ("blue", "green")}
    assert (round(seen["blue"].busy, 3), seen["blue"].waiting) == (3.0, 0.0)
    assert (seen["green"].busy, seen["green"].waiting) == (0.0, 2.0)
    assert os.listdir(tmp_path / "serving") == [path.name]


def test_a_gateway_that_nobody_has_called_leaves_an_empty_list(tmp_path: Path) -> None:
    Loads(str(tmp_path / "numbers")).write()
    assert json.loads((tmp_path / "numbers").read_text()) == []
