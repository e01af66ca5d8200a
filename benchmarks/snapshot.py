"""How long a snapshot of a big folder takes: the first one, one of an unchanged folder, one with a single change."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure, tree, venvs
from benchmarks.measure import Failed, Measure
from benchmarks.table import NOTHING, Table, durations, ratio, rows
from benchmarks.venvs import Environment, NotInstalled, Say, variables

FULL, QUICK = tree.Shape(10_000, 1_000_000_000), tree.Shape(1_000, 50_000_000)
COLUMNS = ("a snapshot", "first", "× floor", "unchanged", "one file changed", "requests")
FLOOR = "floor: SHA-256, copy_file_range, rename"


@dataclass(frozen=True)
class Step:
    """One snapshot: its seconds, and how many requests it took where there is a server."""

    seconds: float
    requests: int = 0


Steps = tuple[Step, Step, Step]


def run(quick: bool, say: Say) -> list[Table]:
    shape = QUICK if quick else FULL
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="snapshot-benchmark-")))
        folder = scratch / "project"
        say(f"making a folder with {shape.words()}")
        tree.make(folder, shape)
        contenders: dict[str, Measure[Steps]] = {
            FLOOR: lambda: _floor(folder, scratch),
            "cp -ru": lambda: _copied(folder, scratch),
            "git add, new repository": lambda: _added(folder, scratch),
        }
        missing: dict[str, str] = {}
        try:
            ours = venvs.runyard(say)
            contenders["Runyard"] = lambda: _taken(ours, folder)
            contenders["Runyard, over HTTP"] = lambda: _taken(ours, folder, "--remote")
        except NotInstalled as error:
            missing["Runyard"] = str(error)
        outcomes = measure.in_turn(contenders, 2 if quick else 3, say)
    floor = [steps[0].seconds for steps in outcomes[FLOOR].samples]
    found = rows(outcomes, len(COLUMNS), lambda name, samples: _row(name, samples, floor), missing)
    notes = (
        "Runyard hashes the files and has the server store them; each snapshot is a new client process. Over HTTP is "
        "how a client on another machine does it.",
        "The floor is a loop in Python over the files: what any store by hash has to do, on one core.",
    )
    return [Table(f"Taking a snapshot ({shape.words()})", COLUMNS, found, notes)]


def first_over_floor(ours: Environment, shape: tree.Shape, rounds: int, say: Say) -> str:
    """How many times the floor a first snapshot takes, both measured in turn on the same folder."""
    with tempfile.TemporaryDirectory(prefix="snapshot-benchmark-") as scratch:
        folder = Path(scratch) / "project"
        tree.make(folder, shape)
        contenders: dict[str, Measure[Step]] = {
            FLOOR: lambda: _floor(folder, Path(scratch), once=True)[0],
            "Runyard": lambda: _taken(ours, folder, once=True)[0],
        }
        outcomes = measure.in_turn(contenders, rounds, say)
    for outcome in outcomes.values():
        if outcome.failure:
            raise Failed(outcome.failure)
    floor, first = ([step.seconds for step in outcome.samples] for outcome in outcomes.values())
    return ratio(first, floor)


def _row(name: str, samples: list[Steps], floor: list[float]) -> tuple[str, ...]:
    first = ratio([steps[0].seconds for steps in samples], floor)
    seconds = [durations([steps[column].seconds for steps in samples]) for column in range(3)]
    requests = " / ".join(str(step.requests) for step in samples[-1])
    return (name, seconds[0], first, *seconds[1:], requests if samples[-1][0].requests else NOTHING)


def _in_steps(folder: Path, take: Callable[[], Step], once: bool = False) -> Steps:
    first = take()
    if once:
        return first, Step(0.0), Step(0.0)
    unchanged = take()
    tree.change_one(folder, time.time_ns())
    return first, unchanged, take()


def _floor(folder: Path, scratch: Path, once: bool = False) -> Steps:
    store = scratch / "store"
    store.mkdir()
    try:
        return _in_steps(folder, lambda: _stored(folder, store), once)
    finally:
        shutil.rmtree(store)


def _stored(folder: Path, store: Path) -> Step:
    """Every file is hashed, copied and renamed, whether it is new or not."""
    began = time.perf_counter()
    for below, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(below, name), "rb", buffering=0) as source, open(store / "aside", "wb") as copy:
                digest = hashlib.sha256()
                while chunk := source.read(1 << 20):
                    digest.update(chunk)
                size, done = source.tell(), 0
                while done < size:
                    done += os.copy_file_range(source.fileno(), copy.fileno(), size - done, done)
            os.rename(store / "aside", store / digest.hexdigest())
    return Step(time.perf_counter() - began)


def _copied(folder: Path, scratch: Path) -> Steps:
    target = scratch / "copy"
    try:
        return _in_steps(folder, lambda: _timed(["cp", "-ru", f"{folder}/.", str(target)]))
    finally:
        shutil.rmtree(target, ignore_errors=True)


def _added(folder: Path, scratch: Path) -> Steps:
    repository = scratch / "repository"
    git = ["git", f"--git-dir={repository}", f"--work-tree={folder}"]
    try:
        _timed([*git, "init", "--quiet"])
        return _in_steps(folder, lambda: _timed([*git, "add", "--all", "."], folder))
    finally:
        shutil.rmtree(repository, ignore_errors=True)


def _taken(ours: Environment, folder: Path, *options: str, once: bool = False) -> Steps:
    with measure.yard(ours) as home:

        def take() -> Step:
            said = measure.answer(
                [ours.python, measure.script("take_snapshot.py"), str(folder), *options], {"RUNYARD_HOME": str(home)}
            )
            return Step(said["seconds"], said["requests"])

        return _in_steps(folder, take, once)


def _timed(command: list[str], folder: Path | None = None) -> Step:
    began = time.perf_counter()
    try:
        done = subprocess.run(command, cwd=folder, env=variables(), capture_output=True, text=True)
    except FileNotFoundError as error:
        raise Failed(f"{command[0]} is not installed") from error
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        raise Failed(measure.last_words(done.stderr))
    return Step(seconds)


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["snapshot", *sys.argv[1:]])
