"""What the Ray engine does by itself, beside a stand-in for the driver. `test_engine` has it with a real cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engines.conftest import Listener, gang_of
from tests.engines.ray.conftest import StandIn
from tests.support.waiting import wait_until

from runyard.contracts.compute import Target
from runyard.engines.base import EngineAway, EngineError
from runyard.engines.folders import RunFolders
from runyard.engines.ray.engine import RayEngine

DEADLINE = 60.0


@pytest.fixture
def engine(home: Path, stand_in: StandIn, listening: int) -> Iterator[RayEngine]:
    options = {"address": f"127.0.0.1:{listening}", "ray_python": stand_in.python}
    engine = RayEngine(RunFolders(home / "runs"), home, options)
    yield engine
    engine.close()


def test_an_address_that_is_none_is_refused_when_the_engine_is_made(home: Path) -> None:
    with pytest.raises(EngineError, match="is no address of a Ray cluster"):
        RayEngine(RunFolders(home / "runs"), home, {"address": "http://head/jobs"})


def test_a_gang_is_started_placed_and_stopped(engine: RayEngine, home: Path, stand_in: StandIn) -> None:
    events = Listener()
    gang = gang_of(home)
    handle = engine.start(gang, events)
    assert handle == engine.promise(gang) == {"keeper": "keeper-1", "gang": "run-1.1"}
    wait_until(lambda: events.said == [("placed", "run-1")], seconds=DEADLINE)
    (node,) = engine.offer().nodes
    assert (node.name, node.state, node.run_id) == ("n1", "running", "run-1")
    engine.stop("run-1", handle)
    assert events.gone_runs.get(timeout=DEADLINE) == ("run-1", "it was stopped", False)
    wait_until(lambda: "forget" in stand_in.requests(), seconds=DEADLINE)
    assert engine.offer().nodes[0].state == "idle"


def test_a_start_that_nobody_answered_is_looked_for(engine: RayEngine, home: Path, stand_in: StandIn) -> None:
    events = Listener()
    engine.offer()
    (stand_in.folder / "deaf").touch()
    with pytest.raises(EngineAway, match="does not answer: the driver ended with exit code 1"):
        engine.start(gang_of(home), events)
    (stand_in.folder / "deaf").unlink()
    assert engine.find("run-1", {"keeper": "keeper-1", "gang": "run-1.1"}, events) is None, "the next one knows nothing"


def test_a_gang_that_the_next_driver_does_not_know_was_taken_away(
    engine: RayEngine, home: Path, stand_in: StandIn
) -> None:
    events = Listener()
    handle = engine.start(gang_of(home), events)
    (stand_in.folder / "deaf").touch()
    with pytest.raises(EngineAway):
        engine.offer()
    (stand_in.folder / "deaf").unlink()
    run_id, how, taken = events.gone_runs.get(timeout=DEADLINE)
    assert (run_id, taken) == ("run-1", True)
    assert "does not know it any more" in how
    assert not engine.watch("run-1", handle, events)


def test_a_size_that_no_node_has_is_refused(engine: RayEngine) -> None:
    engine.check(Target("ray", "ray"))
    with pytest.raises(EngineError, match=r"No node of the Ray cluster at .* has 6 CPUs.* It has 1 with 4 CPUs"):
        engine.check(Target("ray", "ray", vm_size="STANDARD_NC6"))
    assert engine.offer().most_nodes == 1
