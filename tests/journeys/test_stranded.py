"""A run whose node runner and every rescuer is killed: what it wrote waits, is shown, arrives in the end, or goes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from azureml.core import Run
from runyard.scheduler.gangs import RESCUES

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

RUNYARD = Path(sys.executable).with_name("runyard")

STEPS = """
import os, sys, time
from azureml.core import Run
run = Run.get_context()
os.makedirs('outputs', exist_ok=True)
for step in range(2000):
    run.log('loss', float(step))
    print('step', step, 'x' * 500, flush=True)
with open('outputs/model.bin', 'wb') as f:
    f.write(os.urandom(1 << 20))
open(sys.argv[1], 'w').close()
time.sleep(600)
"""


class Reaper:
    """Kills every node runner of a run, at the moment in which it takes the run's folder, until it is told to stop."""

    def __init__(self, yard: Yard, run: Run) -> None:
        self.folder = yard.home / "runs" / run.id
        self.killed: set[int] = set()
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._enough.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._enough.wait(0.001):
            with contextlib.suppress(FileNotFoundError, ValueError):  # it is not there, or being written
                pid = int(json.loads((self.folder / "runner.lock").read_text())["pid"])
                if pid not in self.killed:
                    os.kill(pid, signal.SIGKILL)
                    self.killed.add(pid)


def runyard(*words: str) -> str:
    return subprocess.run([RUNYARD, *words], capture_output=True, text=True, timeout=120, check=True).stdout


@contextmanager
def stranded(yard: Yard, tmp_path: Path) -> Iterator[tuple[Run, Reaper]]:
    """A run that was given up, while whoever comes to rescue it is killed."""
    begun = tmp_path / "begun"
    run = yard.submit(STEPS, begun)
    yard.wait(begun.exists, "the script to have written everything")
    os.kill(yard.server.pid, signal.SIGSTOP)  # so that some of it is left to be delivered
    try:
        with (yard.home / "runs" / run.id / "streams" / "std_log.txt").open("ab") as file:
            file.write(b"the last line, which the server has not got\n")
        reaper = Reaper(yard, run)
        yard.wait(lambda: reaper.killed, "the node runner to be killed")
    finally:
        os.kill(yard.server.pid, signal.SIGCONT)
    try:
        yard.wait(lambda: run.get_status() == "Failed", f"{run.id} to be given up")
        yield run, reaper
    finally:
        reaper.stop()


def test_what_was_written_arrives_though_the_runner_and_all_its_rescuers_were_killed(
    yard: Yard, tmp_path: Path
) -> None:
    with stranded(yard, tmp_path) as (run, reaper):
        assert len(reaper.killed) == 1 + RESCUES
        assert "is delivered as soon as that works" in str(run.get_details()["error"])
        assert f"of 1 run ({run.id}): it waits in" in runyard("doctor")
        log = (reaper.folder / "streams" / "std_log.txt").read_bytes()
        model = (reaper.folder / "work" / "outputs" / "model.bin").read_bytes()
        yard.wait(lambda: len(reaper.killed) > 1 + RESCUES, "one that comes after a pause")
        yard.kill_server()
    assert yard.workspace.get_run(run.id).get_status() == "Failed"  # this client starts a new server
    yard.wait(lambda: not reaper.folder.exists(), "everything to be delivered")
    assert run.get_metrics("loss")["loss"] == [float(step) for step in range(2000)]
    assert run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"].encode() == log
    run.download_file("outputs/model.bin", str(tmp_path / "model.bin"))
    assert (tmp_path / "model.bin").read_bytes() == model
    assert "killed before the script had ended" in str(run.get_details()["error"]), "a rescuer knows more than a guess"
    assert "to be delivered" not in runyard("doctor")


def test_a_run_that_is_deleted_takes_along_what_it_has_left(yard: Yard, tmp_path: Path) -> None:
    with stranded(yard, tmp_path) as (run, reaper):
        assert reaper.folder.exists()
        runyard("rm", run.id, "--yes")
        yard.wait(lambda: not reaper.folder.exists(), "the folder to go")
    assert not yard.processes("train.py")
