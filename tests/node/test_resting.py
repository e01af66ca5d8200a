"""If these fail, a run could be handed to a runner that never begins it, or meet what another one has left."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from runyard.node import resting
from runyard.node.resting import STOPS, Rest, Resting
from runyard.node.signals import Signals
from runyard.system.processes import end_with_parent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="runners rest on Linux alone")


class Runner:
    """A child of this process that is a runner as far as its rests go: each run writes its arguments to a pipe."""

    def __init__(self, side: Resting, leaves: str = "") -> None:
        line = side.line()
        assert line is not None
        self.reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self._work(line, writing, leaves)
            finally:
                os._exit(0)
        os.close(writing)
        line[1].close()
        side.add(self.pid, line[0])

    def _work(self, line: tuple[object, object], writing: int, leaves: str) -> None:
        line[0].close()  # type: ignore[attr-defined]
        for number in STOPS:
            signal.signal(number, signal.SIG_DFL)
        rest = Rest(line[1])  # type: ignore[arg-type]
        while True:
            signals = Signals()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
            if leaves == "file":
                os.open("/dev/null", os.O_RDONLY)
            if leaves == "child":
                subprocess.Popen(["/bin/sleep", "600"], preexec_fn=end_with_parent())
            if leaves == "stop":
                os.kill(os.getpid(), signal.SIGTERM)
            arguments = rest.next_run(signals)
            if arguments is None:
                return
            os.write(writing, repr(arguments).encode())

    def took(self) -> str:
        """The arguments of a run that it has taken up; nothing when it has ended."""
        return os.read(self.reading, 4096).decode()


@pytest.fixture
def side() -> Iterator[Resting]:
    side = Resting()
    yield side
    for pid in list(side._lines):
        side.forget(pid)


def rests(side: Resting) -> int | None:
    """The next runner that begins to rest, or None for one that has ended."""
    ready, _, _ = select.select(side.descriptors(), [], [], 60.0)
    return side.begins(ready[0])


def test_one_runner_takes_up_one_run_after_the_other(side: Resting) -> None:
    runner = Runner(side)
    for folder in ("/first", "/second"):
        assert side.hand_over(["/too/early"]) is None
        assert rests(side) == runner.pid
        assert side.hand_over([folder, "more"]) == runner.pid
        assert runner.took() == repr([folder, "more"])
    side.forget(runner.pid)
    os.waitpid(runner.pid, 0)


@pytest.mark.parametrize("leaves", ["file", "child", "stop"])
def test_one_whose_run_has_left_something_or_was_stopped_ends(side: Resting, leaves: str) -> None:
    runner = Runner(side, leaves)
    assert runner.took() == ""
    assert rests(side) is None
    assert side.hand_over(["/folder"]) is None
    os.waitpid(runner.pid, 0)


def test_one_that_was_killed_while_it_rested_is_passed_over(side: Resting) -> None:
    first, second = Runner(side), Runner(side)
    assert {rests(side), rests(side)} == {first.pid, second.pid}
    last, other = (second, first) if side._resting[-1] == second.pid else (first, second)
    os.kill(last.pid, signal.SIGTERM)
    os.waitid(os.P_PID, last.pid, os.WEXITED | os.WNOWAIT)
    assert side.hand_over(["/folder"]) == other.pid
    assert other.took() == repr(["/folder"])
    for runner in (first, second):
        side.forget(runner.pid)
        os.waitpid(runner.pid, 0)


def test_one_that_was_stopped_is_killed_before_another_gets_its_run(
    side: Resting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resting, "TAKEN_WITHIN", 0.1)
    runner = Runner(side)
    assert rests(side) == runner.pid
    os.kill(runner.pid, signal.SIGSTOP)
    assert side.hand_over(["/folder"]) is None
    assert os.WTERMSIG(os.waitpid(runner.pid, 0)[1]) == signal.SIGKILL
    assert runner.took() == ""


def test_no_more_rest_than_there_is_use_for(side: Resting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resting, "MOST", 1)
    first, second = Runner(side), Runner(side)
    one, two = rests(side), rests(side)
    assert {one, two} == {first.pid, second.pid}
    os.waitpid(int(two or 0), 0)  # it was let go
    assert side.hand_over(["/folder"]) == one
    side.forget(int(one or 0))
    os.waitpid(int(one or 0), 0)
