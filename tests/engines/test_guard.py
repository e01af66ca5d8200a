"""If these fail, a bug in somebody's engine fails requests and runs that have nothing to do with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engines.conftest import Listener, gang_of

from runyard.contracts.compute import Target
from runyard.engines.base import Engine, EngineAway, EngineError, EngineEvents, Gang, Handle, Offer
from runyard.engines.guard import GuardedEngine


class Faulty(Engine):
    def __init__(self, error: Exception) -> None:
        self._error = error

    def _fail(self) -> Any:
        raise self._error

    def check(self, target: Target) -> None:
        self._fail()

    def offer(self) -> Offer:
        return self._fail()  # type: ignore[no-any-return]

    def start(self, gang: Gang, events: EngineEvents) -> Handle:
        return self._fail()  # type: ignore[no-any-return]

    def promise(self, gang: Gang) -> Handle:
        return self._fail()  # type: ignore[no-any-return]

    def find(self, run_id: str, promise: Handle, events: EngineEvents) -> Handle | None:
        return self._fail()  # type: ignore[no-any-return]

    def watch(self, run_id: str, handle: Handle, events: EngineEvents) -> bool:
        return self._fail()  # type: ignore[no-any-return]

    def stop(self, run_id: str, handle: Handle) -> None:
        self._fail()

    def close(self) -> None:
        self._fail()


CALLS: dict[str, Callable[[Engine, Gang], object]] = {
    "check": lambda engine, gang: engine.check(Target("mine", "pbs")),
    "offer": lambda engine, gang: engine.offer(),
    "start": lambda engine, gang: engine.start(gang, Listener()),
    "promise": lambda engine, gang: engine.promise(gang),
    "find": lambda engine, gang: engine.find("run-1", {}, Listener()),
    "watch": lambda engine, gang: engine.watch("run-1", {}, Listener()),
    "stop": lambda engine, gang: engine.stop("run-1", {}),
}


@pytest.mark.parametrize("call", CALLS)
def test_whatever_an_engine_raises_is_an_engine_error_that_names_it(call: str, home: Path) -> None:
    gang = gang_of(home)
    with pytest.raises(EngineError, match="The engine 'pbs' has failed: KeyError: 'nodes'") as failed:
        CALLS[call](GuardedEngine("pbs", Faulty(KeyError("nodes"))), gang)
    assert not isinstance(failed.value, EngineAway)
    with pytest.raises(EngineAway, match=r"^not now$"):
        CALLS[call](GuardedEngine("pbs", Faulty(EngineAway("not now"))), gang)


def test_closing_goes_on_with_the_others() -> None:
    GuardedEngine("pbs", Faulty(KeyError("nodes"))).close()


def test_an_offer_that_is_none_is_seen_at_once() -> None:
    class Empty(Faulty):
        def offer(self) -> Offer:
            return None  # type: ignore[return-value]

    with pytest.raises(EngineError, match="offer\\(\\) returned None"):
        GuardedEngine("pbs", Empty(KeyError())).offer()
