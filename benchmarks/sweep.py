"""A sweep of trials that do nothing, 8 at once: trials per second, and how long a place stays empty between two."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure, venvs
from benchmarks.measure import Failed, Measure
from benchmarks.table import Table, not_measured, rates
from benchmarks.venvs import Environment, NotInstalled, Say

COLUMNS = ("trials that do nothing, 8 at once", "trials", "trials per second", "from one trial to the next, median")
AT_ONCE = 8
TRIALS = 200


@dataclass(frozen=True)
class Contender:
    title: str
    package: str
    script: str


CONTENDERS = {
    "Optuna": Contender("Optuna {}, 8 processes and a journal file", "optuna", "sweep_optuna.py"),
    "Ray Tune": Contender("Ray Tune {}", "ray", "sweep_ray.py"),
    "submitit": Contender("submitit {}, local", "submitit", "sweep_submitit.py"),
}


def run(quick: bool, say: Say) -> list[Table]:
    count = TRIALS // 10 if quick else TRIALS
    contenders: dict[str, Measure[tuple[float, float]]] = {"Runyard": lambda: _runyard(count, say)}
    for name in CONTENDERS:
        contenders[name] = _peer(name, count, say)
    rows = []
    for name, outcome in measure.in_turn(contenders, 1, say).items():
        if outcome.failure:
            rows.append(not_measured(_title(name), outcome.failure, len(COLUMNS)))
            continue
        (rate, gap) = outcome.samples[0]
        rows.append((_title(name), f"{count}", rates([rate]), f"{gap * 1000:.0f} ms"))
    notes = (
        "Each trial is a process that writes the time down and ends. From one to the next: the moment of a trial, to "
        "that of the trial which is eighth after it. Runyard has a record, a log and a history for each; Optuna has a "
        "line in a journal.",
    )
    return [Table("A sweep of short trials", COLUMNS, tuple(rows), notes)]


def _title(name: str) -> str:
    if name == "Runyard":
        return "Runyard, on this machine"
    try:
        found = venvs.peers(venvs.SWEEPERS, lambda said: None).version(CONTENDERS[name].package)
    except NotInstalled:
        found = ""
    return CONTENDERS[name].title.format(found)


def _runyard(count: int, say: Say) -> tuple[float, float]:
    ours = venvs.runyard(say)
    with measure.yard(ours) as home:
        return _told(ours, "sweep_runyard.py", count, RUNYARD_HOME=str(home))


def _peer(name: str, count: int, say: Say) -> Callable[[], tuple[float, float]]:
    return lambda: _told(venvs.peers(venvs.SWEEPERS, say), CONTENDERS[name].script, count)


def _told(environment: Environment, script: str, count: int, **more: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="sweep-benchmark-", ignore_cleanup_errors=True) as folder:
        marks = str(Path(folder) / "marks")
        command = [environment.python, measure.script(script), str(count), str(AT_ONCE), marks]
        told = measure.answer(command, more, timeout=1200)
    if told["trials"] < count or told["seconds"] <= 0:
        raise Failed(f"an impossible answer: {told}")
    return count / float(told["seconds"]), float(told["gap"])


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["sweep", *sys.argv[1:]])
