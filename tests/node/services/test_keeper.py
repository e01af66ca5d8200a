"""When a replica is started again, and when it is given up. Its life is in the journeys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runyard.contracts.plan import Launch, Plan
from runyard.contracts.services.plan import ServicePlan
from runyard.contracts.services.settings import Settings
from runyard.node.services.keeper import LONGEST_PAUSE, TRIES, Keeper
from runyard.node.signals import Signals


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    service = ServicePlan("mine", str(tmp_path), str(tmp_path / "listener"), 1, "127.0.0.1", 0, Settings())
    launch = Launch(service=service.as_dict())
    plan = Plan("run", "run", "e", "e", "local", "s", "r", "local", "token", "http://localhost:1", launch)
    return Keeper(plan, tmp_path, Signals(), None)


def failures(keeper: Keeper, error: dict[str, Any], count: int) -> list[Any]:
    return [keeper._failed(error, now=0.0) for _ in range(count)]


def test_one_that_was_never_ready_is_tried_some_times(keeper: Keeper) -> None:
    error = {"code": "InitFailed", "type": "OSError", "message": "no"}
    assert failures(keeper, error, TRIES) == [None] * (TRIES - 1) + [error]


def test_where_another_try_cannot_help_there_is_none(keeper: Keeper) -> None:
    error = {"code": "InitFailed", "type": "SyntaxError", "message": "no"}
    assert failures(keeper, error, 1) == [error]


def test_one_that_was_ready_is_started_at_once_and_then_after_growing_pauses(keeper: Keeper) -> None:
    keeper._was_ready = True
    pauses = []
    for _ in range(9):
        assert keeper._failed({"code": "ProcessEnded", "message": "x"}, now=0.0) is None
        pauses.append(keeper._start_at)
    assert pauses[0] == 0.0
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE
