"""If these fail, targets of one cluster have several connections, or one that is broken takes others with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard.contracts.compute import Target
from runyard.contracts.engines import EngineDescription
from runyard.engines import discovery
from runyard.engines.base import EngineError
from runyard.engines.guard import GuardedEngine
from runyard.engines.local import LocalEngine
from runyard.engines.registry import Engines
from runyard.engines.slurm.engine import SlurmEngine


@pytest.fixture
def engines(home: Path) -> Iterator[Engines]:
    engines = Engines(home, places=3)
    yield engines
    engines.close()


def test_this_machine_has_one_engine_and_equal_options_share_one(engines: Engines) -> None:
    assert engines.of(Target("local")) is engines.of(Target("cpu-cluster", max_nodes=4)) is engines.local
    assert engines.local.places == 3
    first = engines.of(Target("a", "slurm", options={"partition": "gpu", "qos": "high"}))
    assert isinstance(first, SlurmEngine)
    assert engines.of(Target("b", "slurm", options={"qos": "high", "partition": "gpu"})) is first
    assert engines.of(Target("c", "slurm", options={"partition": "cpu"})) is not first


def test_an_engine_that_cannot_be_made_fails_its_own_targets_and_may_be_repaired(engines: Engines) -> None:
    for _ in range(2):
        with pytest.raises(EngineError, match="no engine 'pbs'"):
            engines.of(Target("hpc", "pbs"))
    with pytest.raises(EngineError, match="is no address of a Ray cluster"):
        engines.of(Target("ray", "ray", options={"address": "http://head/jobs"}))
    assert isinstance(engines.of(Target("local")), LocalEngine)


class Picky(LocalEngine):
    def __init__(self, folders: object, home: Path, options: dict[str, str]) -> None:
        self.queue = options["queue"]


def test_an_engine_of_a_package_is_guarded(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "describe", lambda name: EngineDescription(name, "Picky", "x:X"))
    monkeypatch.setattr(discovery, "load", lambda description: Picky)
    with pytest.raises(EngineError, match="The engine 'picky' has failed: KeyError: 'queue'"):
        engines.of(Target("mine", "picky"))
    assert isinstance(engines.of(Target("mine", "picky", options={"queue": "long"})), GuardedEngine)
