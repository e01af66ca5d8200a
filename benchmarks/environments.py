"""How long an environment of thirty packages takes: from an empty cache, a filled one, and when it is there already.

Everybody compiles to bytecode and gets the same packages from the same index.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure, venvs
from benchmarks.measure import Failed, Measure
from benchmarks.table import NOTHING, Table, durations, not_measured, rows
from benchmarks.venvs import Environment, NotInstalled, Say, variables

PACKAGES = (
    *("requests", "urllib3", "certifi", "idna", "charset-normalizer", "click", "jinja2", "markupsafe", "flask"),
    *("werkzeug", "itsdangerous", "blinker", "six", "python-dateutil", "pytz", "pyyaml", "attrs", "packaging", "tqdm"),
    *("rich", "pygments", "markdown-it-py", "mdurl", "numpy", "pandas", "tzdata", "scikit-learn", "scipy", "joblib"),
    "threadpoolctl",
)
QUICK = ("six", "idna", "certifi")
AT_ONCE = 10
COLUMNS = ("30 packages", "cold", "× uv", "warm cache", "× uv", "built already")


@dataclass(frozen=True)
class Times:
    cold: float
    warm: float
    found: float | None = None


def run(quick: bool, say: Say) -> list[Table]:
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="environments-benchmark-")))
        wanted = scratch / "requirements.txt"
        wanted.write_text("\n".join(QUICK if quick else PACKAGES), "utf-8")
        try:
            ours = venvs.runyard(say)
        except NotInstalled as error:
            return [Table("Building an environment", COLUMNS, (not_measured("Runyard", str(error), len(COLUMNS)),))]
        pip: dict[str, Measure[Times]] = {"pip in a venv": lambda: _with_pip(wanted, scratch)}
        # These two are close to each other, and what the index takes varies more than they differ: many rounds.
        close: dict[str, Measure[Times]] = {
            "uv": lambda: _with_uv(ours, wanted, scratch),
            "Runyard": lambda: _with_runyard(ours, wanted, scratch),
        }
        outcomes = measure.in_turn(pip, 1 if quick else 2, say)
        outcomes.update(measure.in_turn(close, 1 if quick else 7, say))
        say(f"{AT_ONCE} processes at once")
        builds = _at_once(ours, wanted, scratch)
    bare = outcomes["uv"].samples
    found = rows(outcomes, len(COLUMNS), lambda name, samples: _row(name, samples, bare))
    notes = (
        "A virtual environment and its packages, compiled to bytecode. Cold: nothing of them is on the machine.",
        "× uv: the median of the ratios within each round.",
        f"{AT_ONCE} processes that ask for the same environment at once build it {_times(builds)}.",
    )
    return [Table("Building an environment", COLUMNS, found, notes)]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _row(name: str, samples: list[Times], bare: list[Times]) -> tuple[str, ...]:
    cold, warm = [each.cold for each in samples], [each.warm for each in samples]
    found = [each.found for each in samples if each.found is not None]
    return (
        name,
        durations(cold),
        _beside(cold, [each.cold for each in bare]),
        durations(warm),
        _beside(warm, [each.warm for each in bare]),
        durations(found) if found else NOTHING,
    )


def _beside(samples: list[float], bare: list[float]) -> str:
    """The median of the ratios in each round: the index is slower in some rounds than in others, for everybody."""
    ratios = [ours / theirs for ours, theirs in zip(samples, bare, strict=False)]
    return f"{statistics.median(ratios):.2f}×" if ratios else NOTHING


def _with_pip(wanted: Path, scratch: Path) -> Times:
    def build(cache: Path, place: Path) -> float:
        began = time.perf_counter()
        _do([sys.executable, "-m", "venv", str(place)], {})
        command = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--compile", "-r", str(wanted)]
        _do(command, {"PIP_CACHE_DIR": str(cache)})
        return time.perf_counter() - began

    return _twice(scratch, build)


def _with_uv(ours: Environment, wanted: Path, scratch: Path) -> Times:
    """uv itself, with the user's pip configuration handed over as Runyard hands it over."""
    said = (
        "import json, os; from runyard.environments.uv.pip_config import for_uv; told = for_uv(os.environ); "
        "print(json.dumps([told.variables, told.arguments]))"
    )
    index, arguments = measure.answer([ours.python, "-c", said])
    uv, python = ours.command("uv"), str(Path(sys.base_prefix) / "bin" / "python3")

    def build(cache: Path, place: Path) -> float:
        known = {**index, "UV_CACHE_DIR": str(cache)}
        began = time.perf_counter()
        _do([uv, "venv", "--quiet", "--python", python, str(place)], known)
        into = ["--python", str(place / "bin" / "python")]
        _do([uv, "pip", "install", "--quiet", "--compile-bytecode", *into, *arguments, "-r", str(wanted)], known)
        return time.perf_counter() - began

    return _twice(scratch, build)


def _with_runyard(ours: Environment, wanted: Path, scratch: Path) -> Times:
    def build(cache: Path, place: Path) -> float:
        return _built(ours, wanted, cache, place).seconds

    times = _twice(scratch, build, keep=True)
    found = _built(ours, wanted, scratch / "cache", scratch / "second")
    shutil.rmtree(scratch / "second")
    if not found.found:
        raise Failed("an environment that was built a moment ago was not found")
    return Times(times.cold, times.warm, found.seconds)


@dataclass(frozen=True)
class Answer:
    seconds: float
    found: bool


def _built(ours: Environment, wanted: Path, cache: Path, place: Path) -> Answer:
    command = [ours.python, measure.script("build_environment.py"), str(place), str(wanted)]
    return Answer(**measure.answer(command, {"UV_CACHE_DIR": str(cache)}))


def _at_once(ours: Environment, wanted: Path, scratch: Path) -> int:
    """How many of ten processes built it themselves."""
    command = [ours.python, measure.script("build_environment.py"), str(scratch / "shared"), str(wanted)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, env=variables()) for _ in range(AT_ONCE)]
    answers = [json.loads(process.communicate(timeout=600)[0]) for process in started]
    return sum(not answer["found"] for answer in answers)


def _twice(scratch: Path, build: Callable[[Path, Path], float], keep: bool = False) -> Times:
    """Build with an empty cache, then once more with what that has left in it."""
    cache = scratch / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    cold = build(cache, scratch / "first")
    warm = build(cache, scratch / "second")
    for place in ("first",) if keep else ("first", "second"):
        shutil.rmtree(scratch / place)
    return Times(cold, warm)


def _do(command: list[str], more: Mapping[str, str]) -> None:
    done = subprocess.run(command, env=variables(**more), capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(measure.last_words(done.stderr))


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["environments", *sys.argv[1:]])
