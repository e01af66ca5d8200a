"""The load that a gateway leaves for whoever scales its service."""

from __future__ import annotations

import json
from pathlib import Path

from runyard.serving.gateway.load import Loads


def test_requests_under_way_and_waiting_are_told_by_version(tmp_path: Path) -> None:
    loads = Loads(str(tmp_path / "load"))
    loads.of("blue").change(running=2)
    loads.of("green").change(waiting=1)
    assert (loads.running, loads.waiting) == (2, 1)
    before = loads.of("blue").seconds
    assert loads.of("blue").seconds >= before
    loads.write()
    found = {(name, labels["version"]): value for name, labels, value in json.loads((tmp_path / "load").read_text())}
    assert (found["calls_running", "blue"], found["calls_waiting", "green"]) == (2, 1)
