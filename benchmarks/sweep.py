"""A sweep, 8 trials at once: how many per second that do nothing, and how long a place stays empty between two trials,
both while the machine has nothing else to do and while such trials keep it busy."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure, venvs
from benchmarks.measure import Failed, Measure
from benchmarks.table import Table, duration, not_measured, rates
from benchmarks.venvs import Environment, NotInstalled, Say

COLUMNS = (
    "8 trials at once",
    "trials that do nothing, per second",
    "from one of them to the next",
    "from the end of one of half a second to the next",
)
AT_ONCE = 8
TRIALS = 200
LASTING = 80
SECONDS = 0.5


@dataclass(frozen=True)
class Contender:
    title: str
    package: str
    script: str
    kind: tuple[str, ...] = ()


CONTENDERS = {
    "Optuna": Contender("Optuna {}: 8 workers, each trial a process", "optuna", "sweep_optuna.py", ("process",)),
    "Optuna's functions": Contender(
        "Optuna {}: 8 workers, each trial a function call in one of them", "optuna", "sweep_optuna.py", ("function",)
    ),
    "Ray Tune": Contender("Ray Tune {}: 8 actors, each trial a process", "ray", "sweep_ray.py"),
    "submitit": Contender("submitit {}, local: each trial a process", "submitit", "sweep_submitit.py"),
}


def run(quick: bool, say: Say) -> list[Table]:
    counts = (TRIALS // 10, LASTING // 4) if quick else (TRIALS, LASTING)
    contenders: dict[str, Measure[tuple[float, float, float]]] = {"Runyard": lambda: _runyard(counts, say)}
    for name in CONTENDERS:
        contenders[name] = _peer(name, counts, say)
    rows = []
    for name, outcome in measure.in_turn(contenders, 1, say).items():
        if outcome.failure:
            rows.append(not_measured(_title(name), outcome.failure, len(COLUMNS)))
            continue
        (rate, busy, gap) = outcome.samples[0]
        rows.append((_title(name), rates([rate]), duration(busy), duration(gap)))
    notes = (
        f"{counts[0]} trials that do nothing, and {counts[1]} that last half a second, of parameters drawn at random. "
        "Each writes down when it begins and when it ends; the trial that begins eighth after another takes its place. "
        "Medians of one run each. Trials that do nothing keep the whole machine busy: from one to the next is then "
        "what eight trials cost. A trial that is a process is the same shell script everywhere, in place of a training "
        "script. Runyard starts it in a folder of its own with its files, keeps its parameters, its states and what it "
        "prints, and would end it with all its children; Optuna's objective starts it by `subprocess.run` and writes "
        "lines to a journal file. As a function call nothing is started: a trial shares process, memory and crashes "
        "with those before it.",
    )
    return [Table("A sweep of short trials", COLUMNS, tuple(rows), notes)]


def _title(name: str) -> str:
    if name == "Runyard":
        return "Runyard, on this machine: each trial a process"
    try:
        found = venvs.peers(venvs.SWEEPERS, lambda said: None).version(CONTENDERS[name].package)
    except NotInstalled:
        found = ""
    return CONTENDERS[name].title.format(found)


def _runyard(counts: tuple[int, int], say: Say) -> tuple[float, float, float]:
    ours = venvs.runyard(say)
    with measure.yard(ours) as home:
        return _both(ours, "sweep_runyard.py", counts, RUNYARD_HOME=str(home))


def _peer(name: str, counts: tuple[int, int], say: Say) -> Callable[[], tuple[float, float, float]]:
    contender = CONTENDERS[name]
    return lambda: _both(venvs.peers(venvs.SWEEPERS, say), contender.script, counts, contender.kind)


def _both(
    environment: Environment, script: str, counts: tuple[int, int], kind: tuple[str, ...] = (), **more: str
) -> tuple[float, float, float]:
    """Trials per second, and the two gaps."""
    rate, busy = _told(environment, script, counts[0], 0.0, kind, **more)
    _, gap = _told(environment, script, counts[1], SECONDS, kind, **more)
    return rate, busy, gap


def _told(
    environment: Environment, script: str, count: int, seconds: float, kind: tuple[str, ...], **more: str
) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="sweep-benchmark-", ignore_cleanup_errors=True) as folder:
        marks = str(Path(folder) / "marks")
        command = [environment.python, measure.script(script), str(count), str(AT_ONCE), str(seconds), marks, *kind]
        told = measure.answer(command, more, timeout=1200)
    if told["trials"] < count or told["seconds"] <= 0:
        raise Failed(f"an impossible answer: {told}")
    return told["trials"] / float(told["seconds"]), float(told["gap"])  # Optuna's workers begin a few more


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["sweep", *sys.argv[1:]])
