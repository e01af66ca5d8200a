"""How many runs that do nothing go through a cluster of 8 nodes on this machine, one after the other's end."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks import measure, ray_head, venvs
from benchmarks.measure import Failed, Measure
from benchmarks.table import Table, rates, rows
from benchmarks.venvs import NotInstalled, Say

COLUMNS = ("runs that do nothing, 8 at a time", "runs", "runs per second")
NODES = 8
RUNS, SUBMITIT_RUNS, RAY_RUNS = 1000, 200, 60
"""The peers get fewer, so that the benchmark ends."""


def run(quick: bool, say: Say) -> list[Table]:
    share = 10 if quick else 1
    counts = {"Runyard": RUNS // share, "submitit": SUBMITIT_RUNS // share, "Ray": RAY_RUNS // share}
    contenders: dict[str, Measure[float]] = {
        "Runyard": lambda: _runyard(counts["Runyard"], say),
        "submitit": lambda: _submitit(counts["submitit"], say),
        "Ray": lambda: _ray(counts["Ray"], say),
    }
    outcomes = measure.in_turn(contenders, 1, say)  # of many runs each
    shown = {_title(name): outcome for name, outcome in outcomes.items()}
    done = {_title(name): count for name, count in counts.items()}
    found = rows(shown, len(COLUMNS), lambda name, samples: (name, f"{done[name]:,}", rates(samples)))
    notes = (
        "From the first submit to the end of the last. Runyard keeps the queue itself, with a record, a log and a "
        "history for each run; submitit and Ray's job client are given 8 at a time by the benchmark.",
    )
    return [Table("A queue of short runs", COLUMNS, found, notes)]


def _title(name: str) -> str:
    if name == "Runyard":
        return "Runyard, a cluster of 8 nodes"
    try:
        version = venvs.peers(venvs.LAUNCHERS, lambda said: None).version(name.lower())
    except NotInstalled:
        return name
    return f"submitit {version}, local" if name == "submitit" else f"Ray {version}, job client"


def _runyard(count: int, say: Say) -> float:
    ours = venvs.runyard(say)
    with measure.yard(ours) as home:
        command = [ours.python, measure.script("queue_runyard.py"), str(count), str(NODES)]
        return count / _seconds(command, RUNYARD_HOME=str(home))


def _submitit(count: int, say: Say) -> float:
    peers = venvs.peers(venvs.LAUNCHERS, say)
    with tempfile.TemporaryDirectory(prefix="queue-benchmark-", ignore_cleanup_errors=True) as folder:
        command = [peers.python, measure.script("queue_submitit.py"), str(count), str(NODES), str(Path(folder))]
        return count / _seconds(command)


def _ray(count: int, say: Say) -> float:
    peers = venvs.peers(venvs.LAUNCHERS, say)
    with ray_head.started(peers) as head:
        command = [peers.python, measure.script("queue_ray.py"), str(count), str(NODES), head.address]
        return count / _seconds(command, **head.variables)


def _seconds(command: list[str], **more: str) -> float:
    told = measure.answer(command, more, timeout=1200)
    seconds = float(told["ended"])
    if seconds <= 0:
        raise Failed(f"an impossible answer: {told}")
    return seconds


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["queue", *sys.argv[1:]])
