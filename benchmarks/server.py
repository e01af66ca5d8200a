"""What the server costs: start to healthy, memory when idle, and the list of runs when there are many."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from benchmarks import measure, venvs
from benchmarks.measure import Failed
from benchmarks.table import Table, durations, not_measured, size
from benchmarks.venvs import Environment, NotInstalled, Say, variables

IDLE_SECONDS = 10.0
REQUESTS = 20
PAGE = 100
COLUMNS = ("a server", "start → healthy", "memory, idle", "processes", "first page", "filtered page", "deep page")


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Contender:
    """A server with many runs in it: how it is started, and how its pages are asked for."""

    command: list[str]
    port: int
    variables: dict[str, str]
    folder: Path
    pages: Callable[[http.client.HTTPConnection], tuple[Request, Request, Request]]


@dataclass(frozen=True)
class Idle:
    memory: int
    processes: int
    first: list[float]
    filtered: list[float]
    deep: list[float]


def run(quick: bool, say: Say) -> list[Table]:
    runs = 20_000 if quick else 100_000
    contenders: dict[str, Contender] = {}
    missing: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="server-benchmark-", ignore_cleanup_errors=True) as name:
        for title, make in {"Runyard": _runyard, "mlflow server": _mlflow}.items():
            say(f"{title}: filling a database with {runs:,} runs")
            try:
                contenders[title] = make(Path(name), runs, say)
            except (NotInstalled, Failed, TimeoutError) as error:
                missing[title] = str(error)
        starts = measure.in_turn({t: _starter(c) for t, c in contenders.items()}, 2 if quick else 5, say)
        idle = measure.in_turn({f"{t}, idle": _idler(c) for t, c in contenders.items()}, 1, say)
    rows = []
    for title in contenders:
        start, rest = starts[title], idle[f"{title}, idle"]
        if start.failure or rest.failure:
            missing[title] = start.failure or rest.failure
        else:
            rows.append(_row(title, start.samples, rest.samples[0]))
    rows += [not_measured(title, reason, len(COLUMNS)) for title, reason in missing.items()]
    notes = (
        f"With {runs:,} runs in a SQLite file; pages of {PAGE} runs over HTTP, {REQUESTS} times each; the filter is a "
        "tag and a status, the deep page begins after nine tenths of the runs.",
        f"Memory: resident, {IDLE_SECONDS:.0f} s after the start, all processes together.",
    )
    return [Table("The server", COLUMNS, tuple(rows), notes)]


def _row(title: str, starts: list[float], idle: Idle) -> tuple[str, ...]:
    pages = [durations(samples) for samples in (idle.first, idle.filtered, idle.deep)]
    return (title, durations(starts), size(idle.memory), str(idle.processes), *pages)


def _runyard(folder: Path, runs: int, say: Say) -> Contender:
    ours = venvs.runyard(say)
    home, port = folder / "home", measure.free_port()
    contender = Contender(
        [ours.command("runyard"), "serve", "--port", str(port)],
        port,
        {"RUNYARD_HOME": str(home)},
        folder,
        lambda connection: _runyard_pages(connection, home, runs),
    )
    with _started(contender):
        pass  # the first start makes the home
    measure.answer([ours.python, measure.script("fill_runyard.py"), str(home), str(runs)], timeout=600)
    return contender


def _runyard_pages(connection: http.client.HTTPConnection, home: Path, runs: int) -> tuple[Request, Request, Request]:
    token = (home / "token").read_text("utf-8").strip()

    def page(**more: object) -> Request:
        query = urllib.parse.urlencode({"workspace": "local", "experiment": "list", **more})
        return Request("GET", f"/api/runs?{query}", headers={"Authorization": f"Bearer {token}"})

    cursor = ""
    for _ in range(runs * 9 // 10 // 1000):
        cursor = _asked(connection, page(limit=1000, **({"after": cursor} if cursor else {})))["next"]
    return (
        page(limit=PAGE),
        page(limit=PAGE, tag="group=7", status="Completed"),
        page(limit=PAGE, after=cursor),
    )


def _mlflow(folder: Path, runs: int, say: Say) -> Contender:
    trackers: Environment = venvs.peers(venvs.TRACKERS, say)
    database, port = folder / "mlflow.db", measure.free_port()
    filled = measure.answer([trackers.python, measure.script("fill_mlflow.py"), str(database), str(runs)], timeout=600)
    command = [trackers.command("mlflow"), "server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--backend-store-uri", f"sqlite:///{database}", "--artifacts-destination", str(folder / "artifacts")]

    def pages(connection: http.client.HTTPConnection) -> tuple[Request, Request, Request]:
        def page(**more: object) -> Request:
            body = {"experiment_ids": [filled["experiment"]], "max_results": PAGE, **more}
            return Request("POST", "/api/2.0/mlflow/runs/search", body, {"Content-Type": "application/json"})

        deep = base64.b64encode(json.dumps({"offset": runs * 9 // 10}).encode()).decode()
        return (
            page(),
            page(filter="tags.group = '7' and attributes.status = 'FINISHED'"),
            page(page_token=deep),
        )

    return Contender(command, port, {"TMPDIR": str(folder)}, folder, pages)  # it leaves files there


def _starter(contender: Contender) -> measure.Measure[float]:
    def measured() -> float:
        with _started(contender) as started:
            return started.seconds

    return measured


def _idler(contender: Contender) -> measure.Measure[Idle]:
    def measured() -> Idle:
        with _started(contender) as started:
            measured_at = time.monotonic() + IDLE_SECONDS
            measure.wait_until(lambda: time.monotonic() > measured_at, "ten seconds of rest", interval=0.1)
            memory, processes = _memory(started.pid)
            connection = http.client.HTTPConnection("127.0.0.1", contender.port, timeout=120)
            with contextlib.closing(connection):
                first, filtered, deep = (
                    [_time(connection, page) for _ in range(REQUESTS)] for page in contender.pages(connection)
                )
        return Idle(memory, processes, first, filtered, deep)

    return measured


@dataclass(frozen=True)
class Started:
    seconds: float
    pid: int


@contextlib.contextmanager
def _started(contender: Contender) -> Iterator[Started]:
    """A server that is healthy, for as long as it is needed."""
    log = contender.folder / f"{contender.port}.log"
    with log.open("wb") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            contender.command,
            stdout=output,
            stderr=output,
            cwd=contender.folder,
            env=variables(**contender.variables),
            start_new_session=True,
        )
    try:
        measure.wait_until(lambda: _healthy(contender, process, log), "a healthy server", timeout=180, interval=0.005)
        yield Started(time.perf_counter() - began, process.pid)
    finally:
        measure.end_tree(process)


def _healthy(contender: Contender, process: subprocess.Popen[bytes], log: Path) -> bool:
    if process.poll() is not None:
        raise Failed("the server ended: " + measure.last_words(log.read_text("utf-8", "replace")))
    connection = http.client.HTTPConnection("127.0.0.1", contender.port, timeout=5)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False


def _memory(pid: int) -> tuple[int, int]:
    server = psutil.Process(pid)
    tree = [server, *server.children(recursive=True)]
    return sum(process.memory_info().rss for process in tree), len(tree)


def _time(connection: http.client.HTTPConnection, request: Request) -> float:
    began = time.perf_counter()
    said = _asked(connection, request)
    seconds = time.perf_counter() - began
    if len(said["runs"]) != PAGE:
        raise Failed(f"{request.path} gave {len(said['runs'])} runs instead of {PAGE}")
    return seconds


def _asked(connection: http.client.HTTPConnection, request: Request) -> Any:
    body = None if request.body is None else json.dumps(request.body)
    connection.request(request.method, request.path, body, request.headers)
    response = connection.getresponse()
    said = response.read()
    if response.status != 200:
        raise Failed(f"{request.path} was answered with {response.status}: {said[:200].decode('utf-8', 'replace')}")
    return json.loads(said)


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["server", *sys.argv[1:]])
