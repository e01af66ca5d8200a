"""Servers to be put under load: Runyard's and MLflow's, what they cost, and requests to them."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from tests.support import postgresql

from benchmarks import measure, venvs
from benchmarks.measure import Failed
from benchmarks.venvs import Environment, Say, variables

HEALTHY_WITHIN = 120.0
RUNS_AT_ONCE = 64
DATABASE = "RUNYARD_BENCHMARK_DATABASE"
"""`postgresql`: each server uses one instead of SQLite, started for it, with PostgreSQL's own settings."""


@dataclass
class Server:
    """A server that runs, and one connection to it."""

    url: str
    process: psutil.Process
    folder: Path
    headers: Mapping[str, str] = field(default_factory=dict)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.url.partition("://")[2], timeout=120)

    def call(
        self, method: str, path: str, value: Any = None, body: bytes | None = None, connection: Any = None, **more: str
    ) -> Any:
        """The JSON of a response that is no refusal. Without a connection, one is opened for it."""
        used = connection or self.connect()
        try:
            sent = json.dumps(value).encode() if value is not None else body
            used.request(method, path, sent, {**self.headers, "Content-Type": "application/json", **more})
            response = used.getresponse()
            content = response.read()
        finally:
            if connection is None:
                used.close()
        if response.status >= 300:
            raise Failed(
                f"{method} {path} was answered with {response.status}: {content[:200].decode(errors='replace')}"
            )
        return json.loads(content) if content else None

    def drain(self, path: str) -> None:
        """Read a long response and keep nothing of it: to parse it would stop every thread of this process."""
        with contextlib.closing(self.connect()) as connection:
            connection.request("GET", path, headers=dict(self.headers))
            response = connection.getresponse()
            if response.status != 200:
                raise Failed(f"GET {path} was answered with {response.status}")
            while response.read(1 << 16):
                pass

    def cpu(self) -> float:
        """Seconds of CPU that the server itself has used."""
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def cpu_of_all(self) -> float:
        """The same with the processes that the server is made of."""
        total = 0.0
        for process in [self.process, *self.process.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                total += times.user + times.system
        return total

    def runners(self) -> list[psutil.Process]:
        """The node runners: children of the process that forks them, which is the server's only child."""
        return [runner for nursery in self.process.children() for runner in nursery.children()]

    def memory(self) -> int:
        return int(self.process.memory_info().rss)


@contextlib.contextmanager
def runyard(ours: Environment) -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="runyard-scale-", ignore_cleanup_errors=True) as name:
        folder, port = Path(name), measure.free_port()
        home = folder / "home"
        command = [ours.command("runyard"), "serve", "--port", str(port)]
        more = {"RUNYARD_HOME": str(home), "RUNYARD_LOCAL_RUNS": str(RUNS_AT_ONCE)}
        with contextlib.ExitStack() as stack:
            if os.environ.get(DATABASE) == "postgresql":
                more["RUNYARD_DATABASE_URL"] = stack.enter_context(postgresql.started()).url("postgres")
            server = stack.enter_context(_started(command, port, folder, more))
            token = (home / "token").read_text("utf-8").strip()
            server.headers = {"Authorization": f"Bearer {token}"}
            yield server


@contextlib.contextmanager
def mlflow(say: Say) -> Iterator[Server]:
    trackers = venvs.peers(venvs.TRACKERS, say)
    with tempfile.TemporaryDirectory(prefix="mlflow-scale-", ignore_cleanup_errors=True) as name:
        folder, port = Path(name), measure.free_port()
        command = [trackers.command("mlflow"), "server", "--host", "127.0.0.1", "--port", str(port)]
        command += ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", f"{folder}/a"]
        with _started(command, port, folder, {"TMPDIR": name}) as server:
            yield server


@contextlib.contextmanager
def _started(command: list[str], port: int, folder: Path, more: dict[str, str]) -> Iterator[Server]:
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, cwd=folder, env=variables(**more), start_new_session=True
        )
    server = Server(f"http://127.0.0.1:{port}", psutil.Process(process.pid), folder)
    try:
        deadline = time.monotonic() + HEALTHY_WITHIN
        while not _healthy(server):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed("the server did not start: " + measure.last_words(log.read_text("utf-8", "replace")))
            time.sleep(0.05)
        yield server
    finally:
        measure.end_tree(process, grace=20)


def _healthy(server: Server) -> bool:
    connection = server.connect()
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    return False
