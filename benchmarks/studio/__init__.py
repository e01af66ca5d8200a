"""The studio beside MLflow's UI, in one browser, with the same runs and points: how soon what one waits for is drawn.

`RUNYARD_BENCHMARK_RUNS` and `RUNYARD_BENCHMARK_POINTS` set how much there is; `RUNYARD_BENCHMARK_ONLY=mlflow|runyard`
looks at one of the two. They are up one after the other, so that neither takes from the other's time.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import measure, venvs
from benchmarks.children.studio_shape import COMPARED, COMPARED_POINTS, WIDE_METRICS, Shape, name
from benchmarks.live import servers
from benchmarks.measure import Conversation, Failed
from benchmarks.studio import charts, sites
from benchmarks.studio.browser import Reader, chromium
from benchmarks.studio.sites import Site
from benchmarks.table import NOTHING, Table, durations, not_measured, ratio
from benchmarks.venvs import Environment, NotInstalled, Say

RUNS, POINTS, ONLY = "RUNYARD_BENCHMARK_RUNS", "RUNYARD_BENCHMARK_POINTS", "RUNYARD_BENCHMARK_ONLY"
PEER, OURS = "MLflow's UI", "the studio"
COLUMNS = ("in Chromium", PEER, OURS, "times as fast", "aim")
FILLED_WITHIN, SHOWN_WITHIN = 7200, 100.0

Measured = dict[str, list[float]]


@dataclass(frozen=True)
class Filled:
    """A server with all of it, as a reader finds it."""

    site: Site
    runs: list[str]
    entry: str | None
    logger: list[str]
    more: dict[str, str]
    folder: Any


def run(quick: bool, say: Say) -> list[Table]:
    shape = Shape(
        int(os.environ.get(RUNS) or (2_000 if quick else 100_000)),
        int(os.environ.get(POINTS) or (400_000 if quick else 10_000_000)),
    )
    taken: dict[str, Measured] = {PEER: {}, OURS: {}}
    missing = {}
    for title, only, filled in ((PEER, "mlflow", _mlflow), (OURS, "runyard", _runyard)):
        if os.environ.get(ONLY) not in (None, "", only):
            missing[title] = f"{ONLY} is {os.environ[ONLY]}"
            continue
        try:
            with filled(shape, partial(_said, say, title)) as found:
                _look(found, shape, 3 if quick else 7, taken[title], partial(_said, say, title))
        except (NotInstalled, Failed, TimeoutError) as error:
            missing[title] = str(error)
    aims = _aims(shape)
    rows = [_row(what, taken, aim) for what, aim in aims.items() if any(what in each for each in taken.values())]
    rows += [not_measured(title, reason, len(COLUMNS)) for title, reason in missing.items()]
    notes = (
        f"{shape.runs:,} runs and {shape.points:,} points in SQLite, 1280 x 800 pixels, from the request (the key, the "
        "call) to the frame in which the page has what is asked for. The first page with nothing in the browser's "
        "cache; the others with its scripts there.",
    )
    say("charts")
    return [Table("The studio in a browser", COLUMNS, tuple(rows), notes), charts.table(3 if quick else charts.ROUNDS)]


def _aims(shape: Shape) -> dict[str, str]:
    return {
        "the first page": "0.5 s",
        "a filter by a metric": "0.3 s",
        f"a run with {WIDE_METRICS} metrics of {shape.wide_points:,} points": "0.7 s",
        f"{COMPARED} runs of {COMPARED_POINTS:,} points on one chart": "1 s",
        "from the call that logs to the pixel": "1 s",
        "scripts of the first page, compressed": "500 kB",
    }


def _said(say: Say, title: str, text: str) -> None:
    say(f"{title}: {text}")


def _look(filled: Filled, shape: Shape, rounds: int, found: Measured, say: Say) -> None:
    first, filtered, run_page, compare, live, script = _aims(shape)
    site, newest = filled.site, name(shape.runs - 1)
    bound, on_top = shape.filtered()
    with chromium() as browser:
        reader = Reader(browser, site, filled.entry)
        say(first)
        found[first] = [reader.first_page(newest) for _ in range(rounds)]
        found[script] = [float(reader.bytes_of_script(newest))]
        steps: dict[str, Callable[[], list[float]]] = {
            filtered: lambda: reader.filtered(newest, bound, name(on_top), rounds),
            run_page: lambda: reader.again(site.run(filled.runs[0]), site.charts, 2, rounds),
            compare: lambda: reader.again(site.compare(filled.runs[1 : COMPARED + 1]), site.lines, COMPARED, rounds),
        }
        for what, step in steps.items():
            say(what)
            found[what] = step()
        say(live)
        logger = Conversation(filled.logger, filled.folder / "logger.log", **filled.more)
        with contextlib.closing(logger):
            found[live] = reader.live(logger, 3, SHOWN_WITHIN)


def _row(what: str, taken: dict[str, Measured], aim: str) -> tuple[str, ...]:
    peer, ours = taken[PEER].get(what), taken[OURS].get(what)
    if what.startswith("scripts"):
        return (what, *(f"{each[0] / 1000:,.0f} kB" if each else NOTHING for each in (peer, ours)), NOTHING, aim)
    shown = [durations(each) if each else NOTHING for each in (peer, ours)]
    return (what, *shown, ratio(peer, ours) if peer and ours else NOTHING, aim)


@contextlib.contextmanager
def _runyard(shape: Shape, say: Say) -> Iterator[Filled]:
    ours = venvs.runyard(say)
    with servers.runyard(ours) as server:
        say(f"filling {shape.runs:,} runs")
        home = str(server.folder / "home")
        made = _fill(ours, "runyard", home, shape)
        entry = server.call("POST", "/api/studio/links")["url"]
        logger = [ours.python, measure.script("log_live.py"), "runyard"]
        more = {"RUNYARD_HOME": home}
        yield Filled(sites.studio(server.url), made["runs"], entry, logger, more, server.folder)


@contextlib.contextmanager
def _mlflow(shape: Shape, say: Say) -> Iterator[Filled]:
    trackers = venvs.peers(venvs.TRACKERS, say)
    with servers.mlflow(say) as server:
        say(f"filling {shape.runs:,} runs")
        database = str(server.folder / "mlflow.db")
        made = _fill(trackers, "mlflow", database, shape)
        logger = [trackers.python, measure.script("log_live.py"), "mlflow"]
        more = {"MLFLOW_TRACKING_URI": server.url}
        yield Filled(sites.mlflow(server.url, made["experiment"]), made["runs"], None, logger, more, server.folder)


def _fill(environment: Environment, which: str, where: str, shape: Shape) -> Any:
    command = [environment.python, "-m", f"benchmarks.children.fill_studio_{which}", where]
    more = {"PYTHONPATH": str(venvs.CHECKOUT)}
    return measure.answer([*command, str(shape.runs), str(shape.points)], more, timeout=FILLED_WITHIN)
