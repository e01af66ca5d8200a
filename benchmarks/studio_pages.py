"""How soon the studio's page of a run, and of a comparison, is drawn: `python -m benchmarks.studio_pages` prints it.

In headless Chromium, from the click to the last chart in sight: a run with 50 metrics of 10,000 points, and 100 runs of
1,000 points on one chart. Then the time from `run.log` in a process of its own to the frame that shows the point.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import end_tree, wait_until
from runyard.contracts.home import read_server, read_token

METRICS, POINTS = 50, 10_000
RUNS, POINTS_OF_EACH = 100, 1_000
ROUNDS, LOGGED = 5, 15

LOGGER = """
import sys, time
from azureml.core import Experiment, Workspace
run = Experiment(Workspace.from_config(), "live").start_logging()
run.log("loss", 0)
print(run.id, flush=True)
for line in sys.stdin:
    at = time.time()
    run.log("loss", float(line))
    print(at, flush=True)
run.complete()
"""
SHOWN = """(value) => new Promise((done) => {
  const shows = (each) => each.ariaLabel?.includes(`the last ${value}.`);
  const look = () => [...document.querySelectorAll("canvas")].some(shows)
    ? done(Date.now() / 1000) : requestAnimationFrame(look);
  look();
})"""
DRAWN = """(least) => {
  const places = [...document.querySelectorAll(".curve-place")];
  const all = places.filter((each) => each.getBoundingClientRect().top < innerHeight);
  return all.length >= least && all.every((each) => each.querySelector("figure[data-drawn]")?.textContent
    && !each.querySelector("canvas").ariaLabel?.includes("no points"));
}"""


class Api:
    def __init__(self, home: Path) -> None:
        server = wait_until(lambda: read_server(home), "the server to start")
        self.url, self.token = server.url, read_token(home)

    def send(self, method: str, path: str, value: Any = None, body: bytes | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        content = json.dumps(value).encode() if body is None and value is not None else body
        request = urllib.request.Request(self.url + path, content, headers, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read())

    def run(self, metrics: int, points: int, name: str) -> str:
        asked = {"workspace": "local", "experiment": "measured", "kind": "interactive", "display_name": name}
        run = str(self.send("POST", "/api/runs", asked)["id"])
        lines = "".join(
            json.dumps(["v", f"group{metric % 5}/m{metric}", _value(metric, step), 1.7e9 + step, step]) + "\n"
            for step in range(points)
            for metric in range(metrics)
        ).encode()
        self.send("POST", f"/api/runs/{run}/journals/w?offset=0", body=lines)
        self.send("POST", f"/api/runs/{run}/facts", {"fact": "ended", "outcome": "completed"})
        return run


def _value(metric: int, step: int) -> float:
    return math.exp(-step / 300) + metric + math.sin(step * 7.3) / 9


@contextmanager
def served() -> Iterator[tuple[Api, Path]]:
    with tempfile.TemporaryDirectory(prefix="studio-benchmark-") as folder:
        home = Path(folder) / "home"
        process = subprocess.Popen(
            [sys.executable, "-m", "runyard.server", "--port", "0"], env={**os.environ, "RUNYARD_HOME": str(home)}
        )
        try:
            yield Api(home), home
        finally:
            end_tree(process)


def measure() -> dict[str, float]:
    """Medians in milliseconds."""
    from playwright.sync_api import sync_playwright

    found: dict[str, float] = {}
    with served() as (api, home), sync_playwright() as play:
        one = api.run(METRICS, POINTS, "many metrics")
        many = [api.run(1, POINTS_OF_EACH, f"run {number}") for number in range(RUNS)]
        browser = play.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(api.send("POST", "/api/studio/links")["url"])
        page.wait_for_url("**/studio/*/runs**")
        compare = ",".join(many)
        for name, path, least in (
            (f"a run with {METRICS} metrics of {POINTS:,} points", f"/studio/local/runs/{one}", 2),
            (
                f"{RUNS} runs of {POINTS_OF_EACH:,} points beside one another",
                f"/studio/local/compare?runs={compare}",
                1,
            ),
        ):
            taken = []
            for _ in range(ROUNDS):
                page.goto("about:blank")
                began = time.perf_counter()
                page.goto(api.url + path, wait_until="commit")
                page.wait_for_function(DRAWN, arg=least, polling="raf")
                taken.append((time.perf_counter() - began) * 1000)
            found[name] = statistics.median(taken)
        found["from run.log to the pixel"] = _live(api, home, page)
        browser.close()
    return found


def _live(api: Api, home: Path, page: Any) -> float:
    variables = {**os.environ, "RUNYARD_HOME": str(home)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": home.parent}
    logger = subprocess.Popen([sys.executable, "-c", LOGGER], env=variables, **pipes)
    assert logger.stdin is not None
    assert logger.stdout is not None
    try:
        run = next(line.strip() for line in logger.stdout if len(line.split()) == 1)
        page.goto(f"{api.url}/studio/local/runs/{run}")
        page.evaluate(SHOWN, "0")
        taken = []
        for number in range(1, LOGGED + 1):
            time.sleep(0.7)  # apart, as steps of a training are
            logger.stdin.write(f"{number}\n")
            logger.stdin.flush()
            at = float(logger.stdout.readline())
            taken.append((page.evaluate(SHOWN, str(number)) - at) * 1000)
        logger.stdin.close()
        logger.wait(30)
        print("from run.log to the pixel, the slowest:", round(max(taken)))
        return float(statistics.median(taken))
    finally:
        logger.kill()


if __name__ == "__main__":
    for title, milliseconds in measure().items():
        print(f"{title}: {milliseconds:.0f} ms")
