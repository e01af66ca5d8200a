"""What a step of training costs with Horovod's layer and with torch's own DistributedDataParallel, in one run; and
with Horovod itself where RUNYARD_TEST_HOROVOD names a Python that has it.

The model has 25 million parameters, the processes are on this machine and talk over gloo.
"""

from __future__ import annotations

import json
import os
import subprocess
from statistics import median

from benchmarks import measure, venvs
from benchmarks.measure import Failed, free_port
from benchmarks.table import Table, durations, not_measured
from benchmarks.venvs import NotInstalled, Say, variables

COLUMNS = ("a step, 25 million parameters", "time", "× DDP, median of the pairs", "× its CPU")
SCRIPT = "train_steps.py"
TORCH = ("torch==2.13.0", "numpy")
LAYER = venvs.CHECKOUT / "src" / "runyard" / "compat"
REAL = "RUNYARD_TEST_HOROVOD"
LIMIT = 600

Step = tuple[float, float]
"""What a step took: seconds, and seconds of CPU."""


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
        rows.append((f"DistributedDataParallel, {size} processes", _shown(times["ddp"]), "1.00×", "1.00×"))
        rows.append((name, _shown(times["horovod"]), *_beside(times)))
        if REAL in os.environ:
            real = _gang(os.environ[REAL], size, 5 if quick else 40, ["ddp", "horovod"], "")
            rows.append((f"Horovod itself, {size} processes", _shown(real["horovod"]), *_beside(real)))
    notes = (
        "The ways take turns step by step in the same processes; each has one thread. A ratio is the median of the "
        "ratios of steps that followed each other.",
    )
    return [Table("A step of distributed training", COLUMNS, tuple(rows), notes)]


def _shown(steps: list[Step]) -> str:
    return durations([seconds for seconds, _ in steps])


def _beside(times: dict[str, list[Step]]) -> tuple[str, str]:
    """Horovod's interface against DDP, step by step: by the clock, and by the processor."""
    pairs = list(zip(times["horovod"], times["ddp"], strict=True))
    by_clock, by_cpu = (median(one[place] / other[place] for one, other in pairs) for place in (0, 1))
    return f"{by_clock:.2f}×", f"{by_cpu:.2f}×"


def _gang(python: str, size: int, steps: int, ways: list[str], path: str) -> dict[str, list[Step]]:
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
    times: dict[str, list[Step]] = json.loads(said.splitlines()[-1])
    return times
