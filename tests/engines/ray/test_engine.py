"""The Ray engine with a real cluster of several nodes on this machine: gangs wait, run, are stopped, lost and found."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.engines.conftest import Listener, gang_of
from tests.support.ray_cluster import CORES, NODES, RayCluster, started
from tests.support.waiting import wait_until

from runyard.contracts.compute import LEAVING, RUNNING, Resources, Target
from runyard.engines.base import EngineAway, EngineError, Gang
from runyard.engines.folders import RunFolders
from runyard.engines.hand_over import Parcel
from runyard.engines.ray import connection, line
from runyard.engines.ray import engine as ray_engine
from runyard.engines.ray.engine import RayEngine

pytestmark = pytest.mark.xdist_group("ray")

DEADLINE = 120.0

RUNNER = """
import json, os, signal, sys, time
folder, seconds, node = sys.argv[-3:]
name = os.path.join(folder, node)
def stop(*_):
    open(name + ".stopped", "w").close()
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
with open(name + ".part", "w") as file:
    json.dump({"pid": os.getpid(), "environment": dict(os.environ)}, file)
os.rename(name + ".part", name)
deadline = time.monotonic() + float(seconds)
while time.monotonic() < deadline:
    time.sleep(0.05)
"""
"""Stands for a node runner: says in a file of its own that it is there, and ends when it is asked to."""


class Yard:
    """Engines on a cluster, as servers after each other have them, and what their gangs leave in a folder."""

    def __init__(self, cluster: RayCluster, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cluster, self.folder = cluster, folder
        self.events: Listener = Listener()
        self._open: list[RayEngine] = []
        self._parcels: dict[str, Parcel] = {}
        monkeypatch.setattr(ray_engine, "hand_over", lambda gang, folders: self._parcels[gang.run_id])

    def engine(self, **options: object) -> RayEngine:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        engine = RayEngine(RunFolders(home / "runs"), home, self.cluster.options(**options))
        self._open.append(engine)
        return engine

    def gang(self, run_id: str, nodes: int = 1, cores: int = 1, seconds: float = 0.0, code: str = RUNNER) -> Gang:
        folder = self.folder / run_id
        folder.mkdir()
        self._parcels[run_id] = Parcel(["-I", "-S", "-c", code, str(folder), str(seconds)], {"GIVEN": run_id})
        return gang_of(self.folder / "home", run_id, nodes, Resources(cores=cores))

    def runners(self, run_id: str, nodes: int) -> list[psutil.Process]:
        """The node runners of a gang, once all of them are there."""
        paths = [self.folder / run_id / str(node) for node in range(nodes)]
        wait_until(lambda: all(path.exists() for path in paths))
        return [psutil.Process(json.loads(path.read_text("utf-8"))["pid"]) for path in paths]

    def gone(self, run_id: str) -> tuple[str, bool]:
        """How a gang ended, and whether it was taken away."""
        name, how, taken = self.events.gone_runs.get(timeout=DEADLINE)
        assert name == run_id
        return how, taken

    def waits(self, run_id: str) -> list[str]:
        return [words[2] for words in self.events.said if words[:2] == ("waits", run_id)]

    def close(self) -> None:
        for engine in self._open:
            engine.close()


@pytest.fixture(scope="module")
def engine(ray_cluster: RayCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayEngine]:
    """One engine for all tests that need no other: its driver takes seconds to start."""
    home = tmp_path_factory.mktemp("home")
    engine = RayEngine(RunFolders(home / "runs"), home, ray_cluster.options())
    yield engine
    engine.close()


@pytest.fixture
def yard(ray_cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    ray_cluster.settle()
    with contextlib.closing(Yard(ray_cluster, tmp_path, monkeypatch)) as yard:
        yield yard


def test_a_gang_runs_on_different_nodes_and_ends(yard: Yard, engine: RayEngine) -> None:
    handle = engine.start(yard.gang("two", nodes=2, seconds=DEADLINE), yard.events)
    nodes = {yard.cluster.node_of(runner).address for runner in yard.runners("two", 2)}
    assert len(nodes) == 2
    wait_until(lambda: ("placed", "two") in yard.events.said)
    offer = engine.offer()
    assert offer.most_nodes == NODES
    assert {node.address for node in offer.nodes if node.run_id == "two"} == nodes
    assert {node.state for node in offer.nodes if node.run_id == "two"} == {RUNNING}
    engine.stop("two", handle)
    assert yard.gone("two")[1] is False


def test_what_a_runner_said_before_it_failed_is_told(yard: Yard, engine: RayEngine) -> None:
    engine.start(yard.gang("bad", code="import sys; sys.exit('the server cannot be reached')"), yard.events)
    assert yard.gone("bad") == ("exit code 1: the server cannot be reached", False)


def test_nodes_without_that_python_say_so(yard: Yard) -> None:
    yard.engine(python="/no/such/python").start(yard.gang("none"), yard.events)
    how, _ = yard.gone("none")
    assert "/no/such/python cannot be started on this node" in how


def test_a_runner_sees_nothing_of_ray_and_what_it_was_given(yard: Yard, engine: RayEngine) -> None:
    engine.start(yard.gang("clean"), yard.events)
    assert yard.gone("clean")[0] == "exit code 0"
    seen = json.loads((yard.folder / "clean" / "0").read_text("utf-8"))["environment"]
    assert seen["GIVEN"] == "clean"
    assert not [name for name in seen if name.startswith("RAY_") or name in ("PYTHONPATH", "OMP_NUM_THREADS")]


def test_a_gang_that_finds_no_room_says_why_and_gets_it_when_another_ends(yard: Yard, engine: RayEngine) -> None:
    first = engine.start(yard.gang("first", nodes=2, cores=CORES, seconds=DEADLINE), yard.events)
    yard.runners("first", 2)
    engine.start(yard.gang("second", nodes=NODES, cores=CORES - 1), yard.events)
    engine.start(yard.gang("small", cores=2), yard.events)  # it has room beside the first
    assert yard.gone("small") == ("exit code 0", False)
    wait_until(lambda: yard.waits("second"))
    reason = yard.waits("second")[-1]
    assert reason.startswith(f"waits for {NODES} nodes with 3 CPUs; the cluster has {NODES} such nodes, of which ")
    assert "of this server" in reason
    engine.stop("first", first)
    assert yard.gone("first")[1] is False
    assert yard.gone("second") == ("exit code 0", False)


def test_a_gang_that_waits_can_be_stopped(yard: Yard, engine: RayEngine) -> None:
    handle = engine.start(yard.gang("never", nodes=NODES + 1), yard.events)
    wait_until(lambda: yard.waits("never"))
    assert f"the cluster has {NODES} such nodes, so it must grow first" in yard.waits("never")[0]
    engine.stop("never", handle)
    assert yard.gone("never") == ("it was taken out of the queue", False)
    assert ("placed", "never") not in yard.events.said


def test_a_gang_that_runs_is_asked_to_stop(yard: Yard, engine: RayEngine) -> None:
    handle = engine.start(yard.gang("long", nodes=2, seconds=DEADLINE), yard.events)
    runners = yard.runners("long", 2)
    engine.stop("long", handle)
    how, taken = yard.gone("long")
    assert how in ("exit code 0", "it was stopped")
    assert not taken
    assert all((yard.folder / "long" / f"{node}.stopped").exists() for node in range(2))
    assert not any(runner.is_running() for runner in runners)


def test_a_gang_outlives_the_driver_and_the_server_and_is_found_again(yard: Yard, engine: RayEngine) -> None:
    first = yard.engine()
    handle = first.start(yard.gang("found", nodes=2, seconds=DEADLINE), yard.events)
    runners = yard.runners("found", 2)
    os.kill(first._connection.line().pid, signal.SIGKILL)
    wait_until(lambda: _answers(first))  # with another driver
    first.close()

    second = yard.engine()
    events = yard.events = Listener()
    assert second.watch("found", json.loads(json.dumps(handle)), events)
    wait_until(lambda: ("placed", "found") in events.said)
    assert all(runner.is_running() for runner in runners)
    second.stop("found", handle)
    assert yard.gone("found")[1] is False
    assert not any(runner.is_running() for runner in runners)
    wait_until(lambda: not engine.watch("found", handle, Listener()))  # all is told, and nothing is left of it
    assert not second.watch("other", {"keeper": "runyard-keeper-0", "gang": "other.1"}, events)


def test_a_gang_that_was_promised_is_found_by_the_next_server(yard: Yard, engine: RayEngine) -> None:
    first = yard.engine()
    gang = yard.gang("promised", seconds=DEADLINE)
    promise = first.promise(gang)
    assert first.find("promised", promise, Listener()) is None
    assert first.start(gang, Listener()) == promise
    (runner,) = yard.runners("promised", 1)
    first.close()
    assert engine.find("promised", promise, yard.events) == promise
    engine.stop("promised", promise)
    assert yard.gone("promised")[1] is False
    assert not runner.is_running()


def test_the_end_of_a_gang_is_told_though_the_driver_died_before(yard: Yard, engine: RayEngine) -> None:
    engine.start(yard.gang("short", seconds=3.0), yard.events)
    yard.runners("short", 1)
    os.kill(engine._connection.line().pid, signal.SIGKILL)
    assert yard.gone("short") == ("exit code 0", False)


def test_a_lost_node_takes_the_gang_away_and_leaves_no_process(
    yard: Yard, engine: RayEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_engine, "PATIENCE", 1.0)  # these runners do not look after each other
    engine.start(yard.gang("pair", nodes=2, seconds=DEADLINE), yard.events)
    runners = yard.runners("pair", 2)
    yard.cluster.node_of(runners[1]).lose()
    how, taken = yard.gone("pair")
    assert taken, how
    assert how.startswith("node 1: ")
    wait_until(lambda: not any(runner.is_running() for runner in runners))
    assert (yard.folder / "pair" / "1.stopped").exists()  # the runner was asked, and could tidy up


def test_a_node_that_is_drained_takes_nothing_new_and_lets_its_gang_finish(yard: Yard, engine: RayEngine) -> None:
    handle = engine.start(yard.gang("last", seconds=DEADLINE), yard.events)
    [runner] = yard.runners("last", 1)
    node = yard.cluster.node_of(runner)
    yard.cluster.drain(node)
    other = engine.start(yard.gang("all", nodes=NODES), yard.events)
    wait_until(lambda: yard.waits("all"))
    assert f"the cluster has {NODES - 1} such nodes, so it must grow first" in yard.waits("all")[-1]
    offer = engine.offer()
    assert [(each.address, each.run_id) for each in offer.nodes if each.state == LEAVING] == [(node.address, "last")]
    assert offer.most_nodes == NODES - 1
    assert runner.is_running()
    engine.stop("all", other)
    assert yard.gone("all")[1] is False
    engine.stop("last", handle)
    assert yard.gone("last")[1] is False
    node.kill()


def test_many_small_gangs_all_end_and_do_not_keep_a_large_one_waiting(yard: Yard, engine: RayEngine) -> None:
    holder = engine.start(yard.gang("holder", cores=CORES, seconds=DEADLINE), yard.events)
    yard.runners("holder", 1)
    engine.start(yard.gang("large", nodes=NODES, cores=CORES), yard.events)
    small = {f"small-{number}" for number in range(40)}
    for name in sorted(small):
        engine.start(yard.gang(name), yard.events)
    ended: list[tuple[str, str, bool]] = []
    while len(ended) < 10:
        ended.append(yard.events.gone_runs.get(timeout=DEADLINE))
    engine.stop("holder", holder)
    while len(ended) < len(small) + 2:
        ended.append(yard.events.gone_runs.get(timeout=DEADLINE))
    assert {how for run_id, how, taken in ended if run_id != "holder"} == {"exit code 0"}
    order = [run_id for run_id, _, _ in ended]
    assert {*order} == {"holder", "large", *small}
    assert order.index("large") < len(order) - 10  # many of those that came later went later


def test_the_cluster_can_be_used_from_a_machine_that_is_no_part_of_it(yard: Yard) -> None:
    engine = yard.engine(address=yard.cluster.client_address)
    # Ray starts a process for each such client: on a busy machine that takes longer than the engine waits.
    wait_until(lambda: _answers(engine), seconds=2 * DEADLINE)
    assert len(engine.offer().nodes) == NODES
    handle = engine.start(yard.gang("far", seconds=2 * DEADLINE), yard.events)
    yard.runners("far", 1)
    engine.stop("far", handle)
    assert yard.gone("far")[1] is False


def test_targets_are_checked(yard: Yard, engine: RayEngine) -> None:
    engine.check(Target("good", engine="ray"))
    with pytest.raises(EngineError, match=r"has 6 CPUs, 1 GPU and 34 GiB of memory\. It has .*4 CPUs") as told:
        engine.check(Target("big", engine="ray", vm_size="STANDARD_NC6"))
    assert not isinstance(told.value, EngineAway)
    growing = yard.engine(autoscaling=True)
    growing.check(Target("big", engine="ray", vm_size="STANDARD_NC6"))
    assert growing.offer().most_nodes is None
    with pytest.raises(EngineError, match=r"has 1 CPU and 2 of special"):
        yard.engine(resources={"special": 2}).check(Target("special", engine="ray"))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusters that do not answer are given up after seconds in place of half a minute."""
    for module in (line, connection):
        monkeypatch.setattr(module, "QUIET", 7.0)
    monkeypatch.setattr(line, "PATIENCE", {**line.PATIENCE, line.LOADED: 4.0})
    monkeypatch.setattr(connection, "DEAF", 10.0)


@pytest.mark.usefixtures("impatient")
def test_a_cluster_that_stops_answering_is_away_until_it_is_back(yard: Yard, engine: RayEngine) -> None:
    handle = engine.start(yard.gang("through", seconds=DEADLINE), yard.events)
    yard.runners("through", 1)
    head = yard.cluster.head
    assert head is not None
    head.send(signal.SIGSTOP)
    try:
        wait_until(lambda: not _answers(engine))
        with pytest.raises(EngineAway, match="does not answer"):
            engine.start(yard.gang("refused"), yard.events)
        engine.stop("through", handle)
    finally:
        head.send(signal.SIGCONT)
    assert yard.gone("through")[1] is False
    wait_until(lambda: _answers(engine))
    engine.start(yard.gang("again"), yard.events)
    assert yard.gone("again") == ("exit code 0", False)
    assert not (yard.folder / "refused" / "0").exists()


def _answers(engine: RayEngine) -> bool:
    with contextlib.suppress(EngineAway):
        engine.offer()
        return True
    return False


@pytest.mark.usefixtures("impatient")
def test_runs_end_with_the_head_and_a_new_one_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with started(nodes=1) as cluster, contextlib.closing(Yard(cluster, tmp_path, monkeypatch)) as yard:
        engine = yard.engine()
        engine.start(yard.gang("lost", seconds=DEADLINE), yard.events)
        runners = yard.runners("lost", 1)
        assert cluster.head is not None
        cluster.head.kill()
        cluster.remove(list(cluster.nodes))  # it would wait for a minute before it gives its head up
        cluster.start_head()
        how, taken = yard.gone("lost")
        assert taken, how
        wait_until(lambda: not any(runner.is_running() for runner in runners))
        wait_until(lambda: _answers(engine))
        assert engine.offer().nodes == []


def test_an_address_that_nobody_answers_on_is_away(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    engine = RayEngine(RunFolders(tmp_path / "runs"), tmp_path, {"address": f"127.0.0.1:{port}"})
    with pytest.raises(EngineAway, match=rf"The Ray cluster at 127.0.0.1:{port} does not answer: nobody listens there"):
        engine.check(Target("nobody", engine="ray"))
    assert engine.watch("run", {"keeper": "runyard-keeper-0", "gang": "run.1"}, Listener())  # it is asked again later
    engine.close()


@pytest.mark.usefixtures("impatient")
def test_somebody_else_on_the_address_is_away_too(ray_cluster: RayCluster, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        options = ray_cluster.options(address=address)
        engine = RayEngine(RunFolders(tmp_path / "runs"), tmp_path, options)
        with pytest.raises(EngineAway, match=rf"The Ray cluster at {address} does not answer"):
            engine.check(Target("mute", engine="ray"))
        engine.close()


def test_a_wrong_token_is_refused(ray_cluster: RayCluster, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("0" * 64, "utf-8")
    options = ray_cluster.options(token_file=str(tmp_path / "token"))
    engine = RayEngine(RunFolders(tmp_path / "runs"), tmp_path, options)
    with pytest.raises(EngineError, match=r"cannot be used: .*token is missing or incorrect\. Set token_file") as told:
        engine.check(Target("wrong", engine="ray"))
    assert not isinstance(told.value, EngineAway)
    engine.close()


@pytest.mark.parametrize("address", ["", "auto://", "http://head:6379/x", "head:port"])
def test_what_is_no_address_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no address of a Ray cluster"):
        RayEngine(RunFolders(tmp_path / "runs"), tmp_path, {"address": address})


def test_an_interpreter_without_ray_is_named(ray_cluster: RayCluster, tmp_path: Path) -> None:
    options = ray_cluster.options(ray_python="/usr/bin/python3")
    engine = RayEngine(RunFolders(tmp_path / "runs"), tmp_path, options)
    with pytest.raises(EngineError, match=r"/usr/bin/python3 has no Ray .*`/usr/bin/python3 -m pip install 'ray\["):
        engine.check(Target("none", engine="ray"))
    engine.close()
