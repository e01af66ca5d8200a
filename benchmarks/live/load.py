"""Thousands of simulated runs, and what others notice of them: how old a delivery is, how long a page takes, how late a
follower sees a line."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks import measure
from benchmarks.live.servers import Server
from benchmarks.measure import Failed
from benchmarks.venvs import CHECKOUT, Environment, variables

LIST = "/api/runs?workspace=local&limit=100"
PAUSE = 0.1
SETTLE = 10.0
"""Seconds after which every run has delivered, and the pace has set itself."""

SILENT_SETTLE = 50.0
"""The same for runs that write nothing: the first of them were made while they were few, and come back after 46 s."""

STARTED_WITHIN = 60.0
"""Seconds in which the runs that are watched have started, however busy the server is."""


@dataclass
class Load:
    """What was measured; durations are seconds."""

    cpu: float = 0.0  # of a core
    memory: int = 0
    deliveries: list[float] = field(default_factory=list)
    round_trips: list[float] = field(default_factory=list)
    lists: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    followed: list[float] = field(default_factory=list)
    errors: int = 0


def make_runs(server: Server, count: int) -> Iterator[tuple[str, str]]:
    """So many live runs without a process: the id and the token of each."""
    request = {"workspace": "local", "experiment": "live", "kind": "interactive"}
    connection = server.connect()
    with contextlib.closing(connection):
        for _ in range(count):
            run = server.call("POST", "/api/runs", request, connection=connection)
            yield run["id"], run["token"]


def put_under(
    server: Server, ours: Environment, count: int, seconds: float, watched: Callable[[], Sequence[str]]
) -> Load:
    """Let so many runs live for `seconds`, and others beside them that `watched` starts, which have followers."""
    load = Load()
    with _driven(server, ours, count, seconds + STARTED_WITHIN, silent=False) as (driver, first):
        time.sleep(SETTLE)
        followed = watched()
        with contextlib.ExitStack() as stack:
            over = threading.Event()
            stack.callback(over.set)
            reader = threading.Thread(target=_read_pages, args=(server, first, load, over))
            reader.start()
            stack.callback(reader.join)
            began, before = time.monotonic(), server.cpu()
            load.followed = _followed(server, ours, followed, seconds)
            load.cpu = (server.cpu() - before) / (time.monotonic() - began)
            load.memory = server.memory()
            over.set()
        answer = _ended(driver)
    load.deliveries, load.errors = answer["latencies"], answer["errors"]
    load.round_trips = answer["round_trips"]
    if load.errors:
        raise Failed(f"{load.errors} deliveries went wrong, the first: {answer['first'][0]}")
    return load


def silent(server: Server, ours: Environment, count: int, seconds: float) -> float:
    """The part of a core that so many live runs cost which write nothing."""
    with _driven(server, ours, count, seconds + SILENT_SETTLE, silent=True) as (driver, _):
        time.sleep(SILENT_SETTLE)
        began, before = time.monotonic(), server.cpu()
        time.sleep(seconds)
        used = (server.cpu() - before) / (time.monotonic() - began)
        _ended(driver)
    return used


@contextlib.contextmanager
def _driven(
    server: Server, ours: Environment, count: int, seconds: float, silent: bool
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """So many runs that live, and one of them."""
    settle = SILENT_SETTLE if silent else SETTLE
    arguments = (server.url, str(settle), str(seconds), "silent" if silent else "logging")
    process = subprocess.Popen(
        [ours.python, measure.script("drive_runs.py"), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**variables(), "PYTHONPATH": os.fspath(CHECKOUT)},
    )
    try:
        assert process.stdin is not None
        first = ""
        for run in make_runs(server, count):
            first = first or run[0]
            process.stdin.write(json.dumps(run).encode() + b"\n")
            process.stdin.flush()
        process.stdin.close()
        process.stdin = None  # so that nobody waits for it again
        yield process, first
    finally:
        measure.end_tree(process)


def _ended(process: subprocess.Popen[bytes]) -> Any:
    """End the runs now; what came of them."""
    process.send_signal(signal.SIGINT)
    return _answer(process)


def _answer(process: subprocess.Popen[bytes]) -> Any:
    said = process.communicate(timeout=120)[0]
    if process.returncode != 0:
        raise Failed(f"the driver of the simulated runs ended with {process.returncode}")
    return json.loads(said.splitlines()[-1])


def _read_pages(server: Server, run_id: str, load: Load, over: threading.Event) -> None:
    """The list of runs and the page of one, as somebody who looks now and then."""
    connection = server.connect()
    with contextlib.closing(connection):
        while not over.wait(PAUSE):
            for path, samples in ((LIST, load.lists), (f"/api/runs/{run_id}", load.pages)):
                began = time.monotonic()
                server.call("GET", path, connection=connection)
                samples.append(time.monotonic() - began)


def _followed(server: Server, ours: Environment, watched: Sequence[str], seconds: float) -> list[float]:
    token = server.headers["Authorization"].partition(" ")[2]
    command = [ours.python, measure.script("follow_lines.py"), server.url, token, str(seconds), *watched]
    samples: list[float] = measure.answer(command, timeout=seconds + 60)
    return samples
