"""If these fail, a process of somebody else is taken for a node runner, or a node runner is never seen to end."""

from __future__ import annotations

import fcntl
import json
import os
import queue
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from runyard.engines import runners

DEADLINE = 60.0


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield started
    started.kill()
    started.wait()


def test_a_process_is_found_by_its_id_and_its_start(process: subprocess.Popen[bytes]) -> None:
    handle = runners.handle_of(process.pid)
    found = runners.find(handle)
    assert found is not None
    assert found.pid == process.pid
    assert runners.find({**handle, "started": str(int(handle["started"]) - 1)}) is None, "another one had that id"
    process.kill()
    process.wait()
    assert runners.find(handle) is None
    assert runners.handle_of(process.pid)["started"] is None


def test_a_process_is_still_found_when_the_clock_was_set_which_is_acted_here(
    process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = runners.handle_of(process.pid)
    former = {"pid": process.pid, "created": psutil.Process(process.pid).create_time()}
    assert runners.find(former) is not None, "the handle of a former server"
    booted = psutil.boot_time()
    monkeypatch.setattr("psutil._psplatform.boot_time", lambda: booted + 1.0)  # as Linux has it once it was set
    assert runners.find(handle) is not None
    assert runners.terminate([handle])
    assert process.wait(DEADLINE) == -signal.SIGTERM


def test_the_first_that_lives_is_asked_to_stop(process: subprocess.Popen[bytes]) -> None:
    dead = {"pid": process.pid, "created": 1.0}
    assert runners.terminate([dead, runners.handle_of(process.pid)])
    assert process.wait(DEADLINE) == -signal.SIGTERM
    assert not runners.terminate([dead])  # nobody is there: no harm


def test_the_end_of_all_is_noticed(process: subprocess.Popen[bytes]) -> None:
    ends: queue.Queue[str] = queue.Queue()
    handle = runners.handle_of(process.pid)
    assert runners.await_others([handle], ends.put)
    process.kill()
    process.wait()
    assert ends.get(timeout=DEADLINE) == "it is gone"
    assert not runners.await_others([handle], ends.put)


def test_the_holder_of_a_lock_is_known(tmp_path: Path) -> None:
    lock = tmp_path / "runner.lock"
    assert runners.holder(lock) is None, "there is none"
    lock.write_text(json.dumps({"pid": os.getpid()}))
    assert runners.holder(lock) is None, "nobody holds it"
    with open(lock, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert runners.holder(lock) == runners.handle_of(os.getpid())
        lock.write_text("half of a")
        assert runners.holder(lock) == {"pid": 0, "started": None}, "it was taken a moment ago"


def test_a_child_that_has_ended_is_not_at_work_though_nobody_has_reaped_it(process: subprocess.Popen[bytes]) -> None:
    assert runners.at_work(process.pid)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not runners.at_work(process.pid)
    process.wait()
    assert not runners.at_work(process.pid)
