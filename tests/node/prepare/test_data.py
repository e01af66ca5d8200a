"""What is told of a run's inputs: that they take long, that a mount was lost; and that they let go of everything."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest

from runyard.client.data.cache import Cache
from runyard.client.data.mounts import Mounted
from runyard.contracts.plan import Launch
from runyard.node.prepare import data
from runyard.node.prepare.data import Inputs


class Mount:
    def __init__(self, pid: int, lives: bool) -> None:
        self.pid, self.lives, self.ended = pid, lives, False

    def end(self) -> None:
        self.ended = True


def test_a_lost_mount_is_named_in_the_error_and_all_are_ended(tmp_path: Path) -> None:
    mounts = {"kept": Mount(3, True), "lost": Mount(4, False)}
    lease = Cache(tmp_path / "cache").lease()
    inputs = Inputs(Launch(script="x.py"), lease, cast("dict[str, Mounted]", mounts))
    error: dict[str, Any] = {"code": "ScriptFailed", "message": "It failed."}
    assert inputs.told(error)["message"].endswith(
        "The mount of the input 'lost' (process 4) was lost before: its process ended."
    )
    assert inputs.processes == {3, 4}
    inputs.end()
    assert all(each.ended for each in mounts.values())
    assert not list((tmp_path / "cache" / "leases").iterdir())
    assert Inputs(Launch(script="x.py"), lease, {}).told(error) == error


def test_what_takes_long_is_reported_and_what_does_not_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    first = Event()

    def report(reason: str) -> None:
        reported.append(reason)
        first.set()

    monkeypatch.setattr(data, "REPORTED_AFTER", 600.0)
    with data._Soon(report, "preparing"):
        pass
    assert not reported, "a run that starts at once would wait for its delivery"
    soon = data._Soon(report, "preparing")
    with soon:
        soon.report("half of it")
    assert reported == ["preparing", "half of it"]
    first.clear()
    monkeypatch.setattr(data, "REPORTED_AFTER", 0.0)
    with data._Soon(report, "a listing that takes long"):
        assert first.wait(60)
    assert reported[2:] == ["a listing that takes long"]
