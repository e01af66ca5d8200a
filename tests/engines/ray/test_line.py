"""If these fail, the server waits for a driver that is dead, or mistakes one answer for another."""

from __future__ import annotations

import json
import queue
from pathlib import Path
from typing import Any

import pytest
from tests.engines.ray.conftest import StandIn

from runyard.engines.base import EngineAway, EngineError
from runyard.engines.ray.line import Line, Silent

DEADLINE = 60.0


def test_a_driver_that_cannot_be_started_or_ends_at_once_says_so(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="/no/python: No such file"):
        Line("/no/python", {}, {}, lambda line, said: None)
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'the disk is on fire' >&2\nexit 5\n", "utf-8")
    broken.chmod(0o755)
    line = Line(str(broken), {}, {}, lambda line, said: None)
    with pytest.raises(EngineAway, match="the disk is on fire"):
        line.await_ready()
    assert not line.alive
    with pytest.raises(EngineAway, match="the disk is on fire"):
        line.ask("nodes")


def test_a_stand_in_for_a_driver_is_asked_and_its_events_are_passed_on(stand_in: StandIn) -> None:
    events: queue.Queue[dict[str, Any]] = queue.Queue()
    line = Line(stand_in.python, {"address": "h:1", "namespace": "mine"}, {}, lambda line, event: events.put(event))
    line.await_ready()
    assert (line.alive, line.keeper) == (True, "keeper-1")
    assert json.loads((stand_in.folder / "settings").read_text()) == {"address": "h:1", "namespace": "mine"}
    assert [node["name"] for node in line.ask("nodes")] == ["n1"]
    line.ask("start", gang="g", spec={})
    names = [events.get(timeout=DEADLINE)["event"] for _ in range(4)]
    assert names == ["loaded", "connected", "ready", "gangs"]
    line.close()
    assert events.get(timeout=DEADLINE) == {"event": "ended"}
    assert not line.alive


def test_a_stand_in_that_dies_before_its_answer_leaves_nobody_waiting(stand_in: StandIn) -> None:
    line = Line(stand_in.python, {}, {}, lambda line, event: None)
    line.await_ready()
    (stand_in.folder / "deaf").touch()
    with pytest.raises(Silent, match="exit code 1"):
        line.ask("nodes")
    assert not line.alive


def test_secrets_of_the_server_do_not_reach_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_TOKEN", "hush-hush")
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nenv >{tmp_path}/environment\n")
    python.chmod(0o755)
    with pytest.raises(EngineAway):
        Line(str(python), {}, {"RAY_AUTH_MODE": "token"}, lambda line, event: None).await_ready()
    found = (tmp_path / "environment").read_text()
    assert "hush-hush" not in found
    assert "RAY_AUTH_MODE=token" in found
