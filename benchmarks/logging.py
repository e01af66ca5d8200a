"""What a logged point costs: the call in the training loop, the way to the store, and what a SIGKILL leaves of it."""

from __future__ import annotations

import contextlib
import mmap
import random
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure, venvs
from benchmarks.measure import Failed, Outcome
from benchmarks.table import NOTHING, Table, durations, not_measured, rates, ratio
from benchmarks.venvs import Environment, NotInstalled, Say, variables

COLUMNS = ("a metric point", "in the loop", "× bare", "points/s until stored", "left after SIGKILL")
BARE = "bare JSONL append"


@dataclass(frozen=True)
class Contender:
    """A tool, and how many points suit its speed: for the cost of a call, and for the rate until stored."""

    tool: str
    python: str
    folder: Path
    calls: int
    stored: int
    variables: dict[str, str]
    killed: bool = True

    def command(self, action: str, *more: str) -> list[str]:
        return [self.python, measure.script("log_points.py"), self.tool, action, str(self.folder), *more]


@dataclass(frozen=True)
class Sample:
    call: float
    points_per_second: float


def run(quick: bool, say: Say) -> list[Table]:
    scale = 10 if quick else 1
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="logging-benchmark-")))
        contenders, missing = _contenders(folder, scale, stack, say)
        timed = measure.in_turn({name: _timer(c) for name, c in contenders.items()}, 2 if quick else 5, say)
        killed = measure.in_turn(
            {f"{name}, killed": _killer(c) for name, c in contenders.items() if c.killed}, 1 if quick else 3, say
        )
    rows = [_row(name, timed, killed.get(f"{name}, killed", Outcome())) for name in contenders]
    rows += [not_measured(name, reason, len(COLUMNS)) for name, reason in missing.items()]
    return [
        Table(
            "Logging metrics",
            COLUMNS,
            tuple(rows),
            (
                "Stored means: the server has confirmed it (Runyard), it is in the SQLite file (MLflow, trackio), the "
                "operating system has it (bare).",
                "After SIGKILL: the worst of all rounds; points in the store, of those whose call had returned.",
            ),
        )
    ]


def _contenders(
    folder: Path, scale: int, stack: contextlib.ExitStack, say: Say
) -> tuple[dict[str, Contender], dict[str, str]]:
    contenders: dict[str, Contender] = {}
    missing: dict[str, str] = {}
    contenders[BARE] = Contender("jsonl", sys.executable, folder / "jsonl", 20_000 // scale, 200_000 // scale, {})
    try:
        ours = venvs.runyard(say)
        home = str(stack.enter_context(measure.yard(ours)))
        contenders["Runyard run.log"] = Contender(
            "runyard",
            ours.python,
            folder / "runyard",
            20_000 // scale,
            300_000 // scale,
            {"RUNYARD_HOME": home},
        )
    except NotInstalled as error:
        missing["Runyard run.log"] = str(error)
    try:
        trackers = venvs.peers(venvs.TRACKERS, say)
        contenders |= _peers(trackers, folder, scale)
    except NotInstalled as error:
        missing["MLflow, trackio"] = str(error)
    return contenders, missing


def _peers(trackers: Environment, folder: Path, scale: int) -> dict[str, Contender]:
    python, mlflow = trackers.python, f"MLflow {trackers.version('mlflow')}"
    return {
        f"trackio {trackers.version('trackio')}": Contender(
            "trackio", python, folder / "trackio", 20_000 // scale, 20_000 // scale, {}
        ),
        f"{mlflow} log_metric, sqlite": Contender("mlflow", python, folder / "mlflow", 200, 200, {}),
        f"{mlflow} log_batch(1000), sqlite": Contender(
            "mlflow-batch", python, folder / "mlflow-batch", 10_000, 10_000, {}, killed=False
        ),
    }


def _timer(contender: Contender) -> measure.Measure[Sample]:
    def measured() -> Sample:
        said = measure.answer(contender.command("time", str(contender.calls)), contender.variables)
        stored = said
        if contender.stored != contender.calls:
            stored = measure.answer(contender.command("time", str(contender.stored)), contender.variables)
        return Sample(said["call"], stored["points_per_second"])

    return measured


def _killer(contender: Contender) -> measure.Measure[float]:
    def measured() -> float:
        with _shared(contender.folder.with_suffix(".count")) as (path, count):
            errors = contender.folder.with_suffix(".errors")
            with errors.open("wb") as said:
                process = subprocess.Popen(
                    contender.command("forever", str(path)),
                    stdout=subprocess.DEVNULL,
                    stderr=said,
                    env=variables(**contender.variables),
                )
            try:
                returned = _kill(process, count)
            except Failed:
                raise Failed(measure.last_words(errors.read_text("utf-8", "replace"))) from None
            finally:
                process.kill()
                process.wait()
            stored = int(measure.answer(contender.command("count"), contender.variables))
        return min(1.0, stored / returned)

    return measured


def _kill(process: subprocess.Popen[bytes], count: mmap.mmap) -> int:
    """Kill the process at some moment of its loop; returns how many calls had returned by then."""

    def begun() -> bool:
        if process.poll() is not None:
            raise Failed("it ended by itself")
        return _read(count) > 0

    measure.wait_until(begun, "the first point")
    moment = time.monotonic() + random.uniform(2.0, 5.0)
    measure.wait_until(lambda: time.monotonic() > moment, "the moment to kill", interval=0.001)
    process.kill()
    process.wait()
    return _read(count)


@contextlib.contextmanager
def _shared(path: Path) -> Iterator[tuple[Path, mmap.mmap]]:
    path.write_bytes(bytes(8))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 8) as count:
        yield path, count


def _read(count: mmap.mmap) -> int:
    return int(struct.unpack_from("=q", count)[0])


def _row(name: str, timed: dict[str, Outcome[Sample]], killed: Outcome[float]) -> tuple[str, ...]:
    outcome = timed[name]
    if outcome.failure:
        return not_measured(name, outcome.failure, len(COLUMNS))
    calls = [sample.call for sample in outcome.samples]
    bare = [sample.call for sample in timed[BARE].samples]
    left = f"{min(killed.samples):.0%}" if killed.samples else killed.failure or NOTHING
    return (
        name,
        durations(calls),
        ratio(calls, bare),
        rates([sample.points_per_second for sample in outcome.samples]),
        left,
    )


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["logging", *sys.argv[1:]])
