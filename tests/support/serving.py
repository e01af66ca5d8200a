"""Services for tests: the real process with real settings, and a worker within the test's own process."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from runyard.contracts.services.worker import FAILED, READY, WorkerSettings, WorkerStatus
from runyard.serving.application import Application
from runyard.serving.http.loop import Loop
from runyard.serving.listener import bind
from runyard.serving.scorer import Scorer, ScriptScorer
from runyard.serving.scripts import script

SOURCE = Path(__file__).resolve().parents[2] / "src"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    port: int, path: str, body: Any = None, headers: Mapping[str, str] | None = None, method: str | None = None
) -> Answer:
    """One request on a connection of its own; anything but bytes is sent as JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        kind = {"content-type": "application/json"} if sent is not None else {}
        connection.request(method or ("GET" if body is None else "POST"), path, sent, {**kind, **(headers or {})})
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, response.read())
    finally:
        connection.close()


class Service:
    """`python -m runyard.serving` in a folder of its own."""

    def __init__(self, folder: Path, python: str | Path = sys.executable, **settings: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.status_path = folder, folder / "status.json"
        self.settings = WorkerSettings.from_dict({"service": "tested", "status": str(self.status_path), **settings})
        path = folder / "settings.json"
        path.write_text(json.dumps(self.settings.as_dict()))
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self.log_path = folder / "log.txt"
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                [str(python), "-m", "runyard.serving", str(path)],
                env={**variables, "PYTHONPATH": str(SOURCE)},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def ready(self) -> Service:
        status = self.until(lambda status: status.state in (READY, FAILED))
        assert status.state == READY, f"{status}\n{self.log()}"
        return self

    def until(self, holds: Any, seconds: float = 120) -> WorkerStatus:
        """The status once it is so; fails with the log when the process ends before that."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ended = self.process.poll() is not None
            status = WorkerStatus.read(self.status_path)
            if status is not None and holds(status):
                return status
            assert not ended, f"The service ended with {self.process.returncode}: {status}\n{self.log()}"
            time.sleep(0.02)
        raise AssertionError(f"The service did not come there in {seconds} s: {status}\n{self.log()}")

    @property
    def status(self) -> WorkerStatus:
        found = WorkerStatus.read(self.status_path)
        assert found is not None
        return found

    @property
    def port(self) -> int:
        return self.status.port

    def ask(self, path: str, body: Any = None, headers: Mapping[str, str] | None = None, **more: Any) -> Answer:
        return ask(self.port, path, body, headers, **more)

    def log(self) -> str:
        return self.log_path.read_text("utf-8", "replace")

    def drain(self) -> int:
        """End it as a node runner does; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def ended(self) -> int:
        return self.process.wait(120)

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def script_in(folder: Path, text: str, name: str = "score.py") -> dict[str, str]:
    """The settings of a service with this script."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return {"source_directory": str(folder), "app_root": str(folder), "entry_script": name}


@contextmanager
def within(scorer: Scorer, **settings: Any) -> Iterator[int]:
    """A worker in a thread of this process; its port."""
    made = WorkerSettings.from_dict({"service": "tested", "status": "", "log_requests": False, **settings})
    application = Application(made, scorer)
    listening = bind("127.0.0.1", 0)
    port = int(listening.getsockname()[1])
    loop = Loop(listening, application.arrived, made.max_request_bytes)
    application.attach(loop)
    loop.take()
    thread = threading.Thread(target=application.calls.serve, args=(application.turn_ended,))
    thread.start()
    try:
        yield port
    finally:
        application.calls.stop()
        thread.join(30)
        loop.close()


@contextmanager
def within_script(run: Any, **settings: Any) -> Iterator[int]:
    """The same for a function `run`."""
    with within(ScriptScorer(script.Script(run), str(Path(__file__).parent)), **settings) as port:
        yield port


def raw(port: int, data: bytes, pieces: int = 1) -> bytes:
    """Send bytes as they are, in so many pieces, and read until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        size = -(-len(data) // pieces)
        for start in range(0, len(data), size):
            connection.sendall(data[start : start + size])
        found = b""
        while True:
            try:
                more = connection.recv(65536)
            except ConnectionResetError:
                return found
            if not more:
                return found
            found += more
