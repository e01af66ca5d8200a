"""What a step of training costs with Horovod's layer and with torch's own DistributedDataParallel, in one run; and
with Horovod itself where RUNYARD_TEST_HOROVOD names a Python that has it.

The model has 25 million parameters, the processes are on this machine and talk over gloo.
"""

from __future__ import annotations

import json
import os
import subprocess

from benchmarks import measure, venvs
from benchmarks.measure import Failed, free_port
from benchmarks.table import Table, durations, not_measured, ratio
from benchmarks.venvs import NotInstalled, Say, variables

COLUMNS = ("a step, 25 million parameters", "time", "× DDP")
SCRIPT = "train_steps.py"
TORCH = ("torch==2.13.0", "numpy")
LAYER = venvs.CHECKOUT / "src" / "runyard" / "compat"
REAL = "RUNYARD_TEST_HOROVOD"
LIMIT = 600


def run(quick: bool, say: Say) -> list[Table]:
    rows: list[tuple[str, ...]] = []
    for size in (2, 4):
        say(f"{size} processes ...")
        name = f"Horovod's interface by Runyard, {size} processes"
        try:
            python = venvs.peers(TORCH, say).python
            times = _gang(python, size, 5 if quick else 40, ["ddp", "horovod"], str(LAYER))
        except (NotInstalled, Failed) as error:
            rows.append(not_measured(name, str(error), len(COLUMNS)))
            continue
        rows.append((f"DistributedDataParallel, {size} processes", durations(times["ddp"]), "1.0×"))
        rows.append((name, durations(times["horovod"]), ratio(times["horovod"], times["ddp"])))
        if REAL in os.environ:
            real = _gang(os.environ[REAL], size, 5 if quick else 40, ["ddp", "horovod"], "")
            compared = ratio(real["horovod"], real["ddp"])
            rows.append((f"Horovod itself, {size} processes", durations(real["horovod"]), compared))
    notes = ("The ways take turns step by step in the same processes; each has one thread.",)
    return [Table("A step of distributed training", COLUMNS, tuple(rows), notes)]


def _gang(python: str, size: int, steps: int, ways: list[str], path: str) -> dict[str, list[float]]:
    """The times of the steps, by way, as rank 0 has seen them."""
    own, theirs = free_port(), free_port()
    processes = [
        subprocess.Popen(
            [python, measure.script(SCRIPT), str(steps), *ways],
            env=variables(
                RANK=str(rank),
                WORLD_SIZE=str(size),
                LOCAL_RANK=str(rank),
                LOCAL_WORLD_SIZE=str(size),
                MASTER_ADDR="127.0.0.1",
                MASTER_PORT=str(own),
                RUNYARD_HOROVOD_ADDRESS=f"127.0.0.1:{theirs}",
                OMP_NUM_THREADS="1",
                PYTHONPATH=path,
            ),
            stdout=subprocess.PIPE if rank == 0 else subprocess.DEVNULL,
            stderr=subprocess.PIPE if rank == 0 else subprocess.DEVNULL,
        )
        for rank in range(size)
    ]
    try:
        said, complaints = processes[0].communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise Failed(f"{size} processes took more than {LIMIT} s") from None
    finally:
        for process in processes:
            process.kill()
            process.wait()
    if processes[0].returncode != 0:
        raise Failed(measure.last_words(complaints.decode("utf-8", "replace")))
    times: dict[str, list[float]] = json.loads(said.splitlines()[-1])
    return times
