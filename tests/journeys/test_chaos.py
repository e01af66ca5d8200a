"""Kill the server, the nursery, node runners and ranks at random: what was written is there, once; every state is true,
and nothing stays alive.

`RUNYARD_TEST_CHAOS=1000` makes it longer: so many runs, and as many kills. `RUNYARD_TEST_CHAOS_SEED` repeats the
choices of a former time; the moments in which they hit are never quite the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from azureml.core import Environment, Experiment, Run, ScriptRunConfig
from azureml.core.runconfig import PyTorchConfiguration
from azureml.exceptions import AzureMLException
from runyard.contracts.home import read_server
from runyard.contracts.plan import run_of_folder

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

RUNS = int(os.environ.get("RUNYARD_TEST_CHAOS") or 30)
SEED = os.environ.get("RUNYARD_TEST_CHAOS_SEED") or str(random.SystemRandom().randrange(1_000_000))
PATIENCE = 300.0
ENDED = ("Completed", "Failed", "Canceled")
STEPS = 120

SCRIPT = """
import json, os, sys, time
from azureml.core import Run
truth, steps = sys.argv[1], int(sys.argv[2])
run, rank = Run.get_context(), os.environ.get("RANK", "0")
ledger = os.open(os.path.join(truth, run.id + "~" + rank), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def note(**words):  # one write: it is there, though this process be killed
    os.write(ledger, json.dumps({"pid": os.getpid(), **words}).encode() + b"\\n")

note(began=True)
os.makedirs("outputs", exist_ok=True)
for step in range(steps):
    run.log("loss_" + rank, float(step))
    print("step", step, flush=True)
    note(step=step)
    if step % 40 == 20:
        name = "outputs/rank_%s_step_%d" % (rank, step)
        with open(name + ".part", "w") as file:
            file.write("content of step %d" % step)
        os.rename(name + ".part", name)
        note(output=name)
    time.sleep(0.01)
note(done=True)
"""

Said = TypeVar("Said")


class Rank:
    """What one process of a run has done, as it has noted itself."""

    def __init__(self, notes: Path) -> None:
        self.run_id, _, self.number = notes.name.partition("~")
        self.notes: list[dict[str, Any]] = [json.loads(line) for line in notes.read_text().splitlines()]

    @property
    def pid(self) -> int:
        return int(self.notes[0]["pid"])

    @property
    def steps(self) -> int:
        return sum("step" in note for note in self.notes)

    @property
    def done(self) -> bool:
        return "done" in self.notes[-1]

    @property
    def begun(self) -> int:
        return sum("began" in note for note in self.notes)

    @property
    def outputs(self) -> list[str]:
        return [note["output"] for note in self.notes if "output" in note]


class Killer:
    """Kills one process of the yard after the other, and remembers whose it was."""

    def __init__(self, yard: Yard, truth: Path, kills: int, chance: random.Random) -> None:
        self._yard, self._truth, self._chance = yard, truth, chance
        self._victims = {
            "server": self._server,
            "nursery": self._nursery,
            "runner": self._runners,
            "rank": self._ranks,
        }
        self._plan = chance.choices(list(self._victims), weights=[2, 2, 3, 2], k=kills)
        self.hits = dict.fromkeys(self._victims, 0)
        self.hurt: dict[str, set[str]] = {"runner": set(), "rank": set()}  # the runs of which one was killed
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._work, name="killer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._enough.set()
        self._thread.join()

    def _work(self) -> None:
        for kind in self._plan:
            if self._enough.wait(self._chance.uniform(0.05, 0.5)):
                return
            while not (found := self._victims[kind]()):  # the machine may be slow to bring up another one
                if self._enough.wait(0.05):
                    return
            self._kill(kind, *self._chance.choice(found))

    def _kill(self, kind: str, run_id: str, pid: int) -> None:
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            process = psutil.Process(pid)
            if not any(str(self._yard.home) in word for word in (*process.cmdline(), *process.environ().values())):
                return  # the id belongs to somebody else by now
            if run_id:
                self.hurt[kind].add(run_id)
            os.kill(pid, signal.SIGKILL)
            self.hits[kind] += 1

    def _server(self) -> list[tuple[str, int]]:
        running = read_server(self._yard.home)
        return [("", running.pid)] if running is not None and psutil.pid_exists(running.pid) else []

    def _nursery(self) -> list[tuple[str, int]]:
        with contextlib.suppress(psutil.Error):
            return [("", each.pid) for _, pid in self._server() for each in psutil.Process(pid).children()]
        return []

    def _runners(self) -> list[tuple[str, int]]:
        found = []
        for lock in (self._yard.home / "runs").glob("*/runner.lock"):
            with contextlib.suppress(OSError, ValueError, KeyError):
                found.append((run_of_folder(lock.parent.name), int(json.loads(lock.read_text())["pid"])))
        return [each for each in found if psutil.pid_exists(each[1])]

    def _ranks(self) -> list[tuple[str, int]]:
        ranks = [Rank(path) for path in self._truth.iterdir() if path.stat().st_size]
        return [(rank.run_id, rank.pid) for rank in ranks if not rank.done and psutil.pid_exists(rank.pid)]


def insist(call: Callable[[], Said]) -> Said:
    """Do what a user does: try again when the server was away for longer than a client waits."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return call()
        except AzureMLException:
            if time.monotonic() > deadline:
                raise


def shapes(yard: Yard, truth: Path) -> list[ScriptRunConfig]:
    """Runs of one process, of two on one node, and of two on two nodes."""
    environment = Environment("user-managed-env")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = sys.executable
    folder = str(yard.project(SCRIPT))
    gangs = [PyTorchConfiguration(process_count=2, node_count=nodes) for nodes in (1, 2)]
    return [
        ScriptRunConfig(
            source_directory=folder,
            script="train.py",
            arguments=[str(truth), STEPS],
            compute_target="local",
            environment=environment,
            distributed_job_config=gang,
        )
        for gang in (None, *gangs)
    ]


def test_nothing_is_lost_and_every_state_is_true_whoever_is_killed(yard: Yard, tmp_path: Path) -> None:
    print(f"RUNYARD_TEST_CHAOS={RUNS} RUNYARD_TEST_CHAOS_SEED={SEED}")
    truth = tmp_path / "truth"
    truth.mkdir()
    yard.workspace  # noqa: B018 - the first server
    killer = Killer(yard, truth, RUNS, random.Random(SEED))
    try:
        chosen = random.Random(SEED + "runs").choices(shapes(yard, truth), weights=[3, 1, 1], k=RUNS)
        for config in chosen:
            insist(lambda config=config: Experiment(yard.workspace, "chaos").submit(config))  # type: ignore[misc]
        runs: list[Run] = insist(lambda: list(Experiment(yard.workspace, "chaos").get_runs()))
        for run in runs:
            until(lambda run=run: insist(run.get_status) in ENDED, f"the end of {run.id}")  # type: ignore[misc]
    finally:
        killer.stop()
    print(f"killed: {killer.hits}")
    insist(lambda: yard.workspace.get_run(runs[0].id).get_status())  # there is a server, and it stays
    until(lambda: not list((yard.home / "runs").iterdir()), "everything to be delivered")
    assert len(runs) >= RUNS
    ranks = [Rank(path) for path in truth.iterdir()]
    faults = [
        fault for run in runs for fault in faults_of(run, [rank for rank in ranks if rank.run_id == run.id], killer)
    ]
    assert not faults, "\n".join([f"seed {SEED}, killed {killer.hits}", *faults])


def until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what} (seed {SEED})"
        time.sleep(0.05)


def faults_of(run: Run, ranks: list[Rank], killer: Killer) -> list[str]:
    """All that is not as it should be with a run that has ended."""
    details = run.get_details_with_logs()
    status, metrics, names = details["status"], run.get_metrics(), set(run.get_file_names())
    wrong = []
    if status == "Completed" and not (ranks and all(rank.done for rank in ranks)):
        wrong.append("it is Completed, but a script did not come to its end")
    if status != "Completed" and not any(run.id in hurt for hurt in killer.hurt.values()):
        wrong.append(f"it is {status}, but nobody has touched it: {details.get('error')}")
    if status == "Failed" and run.id not in killer.hurt["runner"] and "SIGKILL" not in str(details["error"]):
        wrong.append(f"one of its ranks was killed, and its error does not say so: {details['error']}")
    for rank in ranks:
        if rank.begun != 1:
            wrong.append(f"rank {rank.number} was started {rank.begun} times")
        values = metrics.get(f"loss_{rank.number}", [])
        values = values if isinstance(values, list) else [values]
        logs = details["logFiles"]
        log = str(logs.get(f"user_logs/std_log_process_{rank.number}.txt", logs.get("user_logs/std_log.txt", "")))
        all_points = [float(step) for step in range(rank.steps + 1)]
        all_lines = "".join(f"step {step}\n" for step in range(rank.steps + 1))
        for what, count, there, as_written in (
            ("points", len(values), values, values == all_points[: len(values)]),
            ("lines", log.count("\n"), log, all_lines.startswith(log)),  # the last one may have been cut by the kill
        ):
            if count not in (rank.steps, rank.steps + 1):  # it may have been killed before it could note the last one
                wrong.append(f"rank {rank.number} wrote {rank.steps} {what}, and {count} are there")
            elif not as_written:
                wrong.append(f"the {what} of rank {rank.number} are not those that it wrote, in order, once: {there!r}")
        kept = {name.replace("outputs/node_1/", "outputs/") for name in names}
        wrong += [f"{name} is missing" for name in rank.outputs if name not in kept]
    return [f"{run.id}: {fault}" for fault in wrong]
