"""If these fail, runs on this machine could not start, would end with the server, or their ends would go unseen."""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.engines.conftest import gang_of
from tests.support.waiting import wait_until

from runyard.engines import nursery
from runyard.engines.folders import RunFolders
from runyard.engines.nursery import Nursery, NurseryEnded, Started, await_end
from runyard.engines.sdk_folder import sdk_folder

pytestmark = pytest.mark.slow

DEADLINE = 60.0


class Yard:
    """A nursery, and folders of runs whose scripts do what a test says."""

    def __init__(self, home: Path) -> None:
        self.home, self.folders = home, RunFolders(home / "runs")
        self.nursery = Nursery(sdk_folder(home))
        self.ends: queue.Queue[str] = queue.Queue()

    def start(self, run_id: str = "run-1", command: str = "sleep 600") -> Started:
        (folder,) = self.folders.make(gang_of(self.home, run_id, command=command))
        started = self.nursery.start(folder)
        await_end([started], self.ends.put)
        return started

    def script_of(self, runner: psutil.Process) -> psutil.Process:
        wait_until(lambda: bool(runner.children()))
        return runner.children()[0]

    def end(self) -> str:
        return self.ends.get(timeout=DEADLINE)


@pytest.fixture
def yard(home: Path) -> Iterator[Yard]:
    yard = Yard(home)
    yield yard
    yard.nursery.close()
    for path in yard.folders.runs.glob("*"):  # a runner whose folder is gone ends by itself
        path.rename(home / f"gone-{path.name}")


def process(started: Started) -> psutil.Process:
    return psutil.Process(started.handle["pid"])


def test_a_runner_is_the_child_of_the_nursery_in_a_session_of_its_own_and_shows_its_folder(yard: Yard) -> None:
    first, second = yard.start("run-1"), yard.start("run-2")
    runners = [process(first), process(second)]
    for number, runner in enumerate(runners, 1):
        yard.script_of(runner)  # by now it is what it is meant to be
        assert os.getsid(runner.pid) == runner.pid
        assert runner.cmdline()[-1] == str(yard.home / "runs" / f"run-{number}")
        assert runner.cwd() == runner.cmdline()[-1]
        opened = {os.readlink(f"/proc/{runner.pid}/fd/{stream}") for stream in (1, 2)}
        assert opened == {f"{runner.cwd()}/streams/runner.log"}
    assert len({runner.ppid() for runner in runners}) == 1


def test_how_a_runner_ended_is_told(yard: Yard) -> None:
    killed = yard.start("run-1")
    yard.script_of(process(killed))
    killed.kill()
    assert yard.end() == "killed by SIGKILL"
    (yard.folders.of("run-2") / "streams").mkdir(parents=True)  # and no plan
    started = yard.nursery.start(yard.folders.of("run-2"))
    assert started.wait() == "exit code 1"
    assert "plan.json" in (yard.folders.of("run-2") / "streams" / "runner.log").read_text()


def test_a_runner_goes_on_without_its_nursery_and_its_end_is_seen(yard: Yard) -> None:
    first = process(yard.start("run-1"))
    script = yard.script_of(first)
    os.kill(first.ppid(), signal.SIGKILL)
    second = process(yard.start("run-2"))  # by another nursery
    yard.script_of(second)
    assert script.is_running()
    assert second.ppid() != first.ppid()
    yard.folders.of("run-1").rename(yard.home / "elsewhere")
    assert yard.end() == "it is gone"
    assert not script.is_running()


def test_a_runner_outlives_the_server_that_started_it(yard: Yard) -> None:
    runner = process(yard.start())
    script, nursery = yard.script_of(runner), psutil.Process(runner.ppid())
    yard.nursery.close()  # as its standard input does when the server dies
    assert not nursery.is_running()
    assert runner.is_running()
    assert script.is_running()


def test_a_stop_that_comes_at_once_is_not_lost(yard: Yard) -> None:
    for number in range(20):
        started = yard.start(f"run-{number}")
        os.kill(started.handle["pid"], signal.SIGTERM)
        log = yard.folders.of(f"run-{number}") / "streams" / "runner.log"
        wait_until(lambda log=log: "cancelled" in log.read_text())  # type: ignore[misc]


def test_a_runner_that_a_real_time_signal_ended_is_told_of(yard: Yard) -> None:
    runner = process(yard.start())
    yard.script_of(runner)
    runner.send_signal(signal.SIGRTMIN + 1)
    assert yard.end() == f"killed by signal {signal.SIGRTMIN + 1}"


def test_a_nursery_that_is_stopped_is_replaced(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nursery, "ANSWERS_WITHIN", 6.0)  # for the second one, on a busy machine
    first = process(yard.start("run-1"))
    stopped = psutil.Process(first.ppid())
    stopped.suspend()
    second = process(yard.start("run-2"))
    assert second.ppid() != stopped.pid
    assert not stopped.is_running()
    assert first.is_running()


def test_a_nursery_that_is_stopped_does_not_keep_the_server_from_ending(yard: Yard) -> None:
    yard.script_of(process(yard.start("run-1")))
    psutil.Process(process(yard.start("run-2")).ppid()).suspend()
    failed: queue.Queue[BaseException] = queue.Queue()

    def start() -> None:
        try:
            yard.start("run-3")
        except OSError as error:
            failed.put(error)

    threading.Thread(target=start, daemon=True).start()
    wait_until((yard.folders.of("run-3") / "streams" / "runner.log").exists)  # it is about to ask
    yard.nursery.close()
    assert isinstance(failed.get(timeout=DEADLINE), NurseryEnded)


def test_the_end_of_a_runner_is_seen_though_its_nursery_is_stopped(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nursery, "LOOK_EVERY", 0.1)
    runner = process(yard.start())
    yard.script_of(runner)
    psutil.Process(runner.ppid()).suspend()
    runner.kill()
    assert yard.end() == "it is gone"


def test_a_folder_that_is_not_there_is_an_error(yard: Yard) -> None:
    with pytest.raises(FileNotFoundError):
        yard.nursery.start(yard.folders.of("run-1"))


def test_the_server_s_secrets_are_not_in_reach_of_a_runner(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_TOKEN", "the-user's-token")
    runner = process(yard.start())
    assert "RUNYARD_TOKEN" not in yard.script_of(runner).environ()
    assert "RUNYARD_TOKEN" not in psutil.Process(runner.ppid()).environ()
