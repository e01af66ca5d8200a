"""If these fail, an engine that leaves out what it need not have cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.conftest import Listener, gang_of

from runyard.contracts.compute import Target
from runyard.engines.base import Engine, EngineAway, EngineError, EngineEvents, Gang, Handle, Offer


class Smallest(Engine):
    def check(self, target: Target) -> None:
        pass

    def offer(self) -> Offer:
        return Offer([])

    def start(self, gang: Gang, events: EngineEvents) -> Handle:
        return {}

    def watch(self, run_id: str, handle: Handle, events: EngineEvents) -> bool:
        return False

    def stop(self, run_id: str, handle: Handle) -> None:
        pass


def test_promises_and_a_diagnosis_are_optional(home: Path) -> None:
    engine, gang = Smallest(), gang_of(home, nodes=2)
    assert engine.promise(gang) == {}
    assert engine.find("run-1", {}, Listener()) is None
    assert list(engine.diagnose([])) == []
    assert engine.offer().most_nodes is None
    engine.close()


def test_an_engine_without_the_rest_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract"):
        type("Half", (Engine,), {"check": lambda self, target: None})()


def test_a_gang_is_named_after_its_run(home: Path) -> None:
    assert gang_of(home, "run-9", nodes=2).run_id == "run-9"
    assert issubclass(EngineAway, EngineError), "who does not care for the difference catches both"
