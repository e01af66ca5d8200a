"""If these fail, a node runner could be mistaken for another process, or leave its folder behind."""

from __future__ import annotations

import queue
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from tests.engines.conftest import Listener, gang_of
from tests.support.waiting import wait_until

from runyard.engines.base import EngineAway, EngineError, Gang
from runyard.engines.folders import RunFolders
from runyard.engines.local import LocalEngine
from runyard.engines.runners import handle_of

DEADLINE = 60.0


@pytest.fixture
def engine(home: Path) -> LocalEngine:
    return LocalEngine(RunFolders(home / "runs"))


def test_a_runner_is_told_of_once_it_is_gone(engine: LocalEngine, home: Path, tmp_path: Path) -> None:
    first, second = Listener(), Listener()
    handle = engine.start(gang_of(home, command=f"touch {tmp_path / 'touched'}; sleep 600"), first)
    assert engine.watch("run-1", handle, second)
    assert first.said == [("placed", "run-1")]
    (home / "runs" / "run-1").rename(home / "elsewhere")  # a runner whose folder is gone ends by itself
    assert first.gone_runs.get(timeout=DEADLINE)[0] == "run-1"
    assert second.gone_runs.get(timeout=DEADLINE) == ("run-1", "it is gone", False)
    assert not engine.watch("run-1", handle, second)
    engine.stop("run-1", handle)  # nobody is there: no harm


def test_a_gang_has_a_runner_and_a_folder_for_each_node_and_is_gone_with_the_last(
    engine: LocalEngine, home: Path
) -> None:
    events = Listener()
    handle = engine.start(gang_of(home, nodes=3, command="sleep 600"), events)
    pids = [node["pid"] for node in handle["nodes"]]
    assert len(set(pids)) == 3
    assert sorted(path.name for path in (home / "runs").iterdir()) == ["run-1", "run-1@1", "run-1@2"]
    for pid in pids[1:]:
        psutil.Process(pid).kill()
    with pytest.raises(queue.Empty):
        events.gone_runs.get(timeout=0.2)
    psutil.Process(pids[0]).kill()
    assert events.gone_runs.get(timeout=DEADLINE) == ("run-1", "killed by SIGKILL", False)
    assert not engine.watch("run-1", handle, events)


def test_another_process_with_the_same_id_is_left_alone(engine: LocalEngine) -> None:
    mine = {"nodes": [{"pid": 1, "created": 12345.0}]}
    assert not engine.watch("run-1", mine, Listener())
    engine.stop("run-1", mine)


def test_a_runner_is_left_alone_once_the_run_is_over_that_it_is_asked_to_stop_for(
    engine: LocalEngine, home: Path
) -> None:
    """It may be at work for another one by then."""
    with subprocess.Popen(["/bin/sleep", "600"]) as runner:
        handle = {"nodes": [handle_of(runner.pid)]}
        engine.stop("run-1", handle)
        assert runner.poll() is None
        (home / "runs" / "run-1").mkdir(parents=True)
        engine.stop("run-1", handle)
        assert runner.wait(DEADLINE) == -signal.SIGTERM


def test_a_folder_that_cannot_be_made_is_said_in_words(engine: LocalEngine, home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "runs").write_text("in the way")
    with pytest.raises(EngineError, match="runs"):
        engine.start(gang_of(home, nodes=2, command="true"), Listener())


def with_nursery(gang: Gang, home: Path, text: str) -> Gang:
    """The same gang, with a nursery of which the test says what it does."""
    sdk = home / "sdk" / "of-the-test"
    (sdk / "runyard" / "node").mkdir(parents=True)
    (sdk / "runyard" / "node" / "__main__.py").write_text(text)
    return replace(gang, plans=[replace(plan, sdk=str(sdk)) for plan in gang.plans])


def test_a_gang_is_away_when_what_starts_runners_dies_again_and_again(engine: LocalEngine, home: Path) -> None:
    gang = with_nursery(gang_of(home, nodes=2, command="sleep 600"), home, "input()")
    with pytest.raises(EngineAway, match="has ended"):
        engine.start(gang, Listener())
    assert not list((home / "runs").iterdir()), "a runner that was asked for could still begin"


FORKS_AND_DIES = """
import fcntl, json, os, subprocess, sys, time
folder = json.loads(input())[0]
os.chdir(folder)
subprocess.Popen([sys.executable, "-I", "-S", {node!r}, folder], start_new_session=True, stdout=subprocess.DEVNULL)
while not os.path.exists("state.json"):
    time.sleep(0.01)
"""


def test_a_runner_whose_nursery_died_before_it_could_tell_is_found_and_is_the_only_one(
    engine: LocalEngine, home: Path, tmp_path: Path
) -> None:
    events, began = Listener(), tmp_path / "began"
    gang = gang_of(home, command=f"echo began >> {began}; sleep 600")
    node = Path(gang.plans[0].sdk) / "runyard" / "node"
    handle = engine.start(with_nursery(gang, home, FORKS_AND_DIES.format(node=str(node))), events)
    wait_until(began.exists)
    (runner,) = [psutil.Process(each["pid"]) for each in handle["nodes"]]
    assert runner.cmdline()[-1] == str(home / "runs" / "run-1")
    assert began.read_text() == "began\n"
    (home / "runs" / "run-1").rename(home / "elsewhere")
    assert events.gone_runs.get(timeout=DEADLINE) == ("run-1", "it is gone", False)


def test_a_runner_that_nobody_has_reported_is_asked_to_stop_all_the_same(
    engine: LocalEngine, home: Path, tmp_path: Path
) -> None:
    """As when what starts runners answers too late: another one was started then, and has left for the first."""
    events, began = Listener(), tmp_path / "began"
    handle = engine.start(gang_of(home, command=f"touch {began}; sleep 600"), events)
    wait_until(began.exists)
    (runner,) = [psutil.Process(each["pid"]) for each in handle["nodes"]]
    engine.stop("run-1", {"nodes": [{"pid": runner.pid, "started": "1"}]})
    log = home / "runs" / "run-1" / "streams" / "runner.log"
    wait_until(lambda: "ending the run: it is cancelled" in log.read_text())
    (home / "runs" / "run-1").rename(home / "elsewhere")  # there is no server to deliver to
    events.gone_runs.get(timeout=DEADLINE)


def test_a_gang_of_a_server_that_died_while_it_started_it_is_found_and_made_complete(
    engine: LocalEngine, home: Path
) -> None:
    gang, events = gang_of(home, nodes=3, command="sleep 600"), Listener()
    former = RunFolders(home / "runs")
    assert engine.find("run-1", {}, events) is None, "nothing of it is here"
    first, second, _ = former.make(gang)
    assert engine.find("run-1", {}, events) is None, "nothing of it has begun"
    known = [former.nursery(gang.plans[0].sdk).start(folder).handle["pid"] for folder in (first, second)]
    former.close()  # before the third
    wait_until(lambda: all(former.begun_in(folder) for folder in (first, second)))
    handle = engine.find("run-1", {}, events)
    assert handle is not None
    assert [node["pid"] for node in handle["nodes"]][:2] == known
    wait_until(lambda: all(engine._folders.at_work("run-1").values()))
    assert len(engine._folders.at_work("run-1")) == 3
    for node in handle["nodes"]:
        psutil.Process(node["pid"]).kill()
    assert events.gone_runs.get(timeout=DEADLINE) == ("run-1", "it is gone", False)
    assert engine.find("run-1", {}, events) is None, "all have begun, and none is alive"


def test_a_node_of_a_found_gang_that_cannot_be_started_is_said_in_words(engine: LocalEngine, home: Path) -> None:
    gang, events = gang_of(home, nodes=2, command="sleep 600"), Listener()
    first, second = RunFolders(home / "runs").make(gang)
    alive = engine._folders.nursery(gang.plans[0].sdk).start(first)
    wait_until(lambda: engine._folders.begun_in(first))
    (second / "plan.json").write_text("no plan")
    with pytest.raises(EngineError, match="run-1@1"):
        engine.find("run-1", {}, events)
    alive.kill()
    alive.wait()
