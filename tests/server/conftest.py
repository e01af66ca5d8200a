"""A real server on a real port for the tests, and a small client that speaks plain HTTP to it."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.support.frameworks import environment

from runyard.contracts.delivery import Delivery, encode
from runyard.contracts.home import read_server, read_token
from runyard.engines.registry import Engines
from runyard.server.app import create_app
from runyard.server.middleware.auth import run_token
from runyard.server.requests import run as run_request
from runyard.server.settings import Settings
from runyard.server.sockets import address, listen
from runyard.server.uvicorn_server import Server

PATIENCE = 30.0


def journal_lines(*records: Any) -> bytes:
    """Records as a journal has them (`runyard.contracts.journal`)."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of a problem document."""
        assert self.headers["content-type"] == "application/problem+json", self.body
        said = self.json
        assert said["status"] == self.status
        assert said["title"]
        return str(said["code"])


@dataclass(frozen=True)
class Client:
    url: str
    token: str | None
    headers: Mapping[str, str] = field(default_factory=dict)

    def call(
        self,
        method: str,
        path: str,
        value: Any = None,
        *,
        body: bytes | Iterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        begin: bool = False,
    ) -> Answer:
        """With `begin`, the body of an answer that is no refusal is not read: it may be a stream without an end."""
        connection = self._connect()
        try:
            response = self._send(connection, method, path, value, body, headers)
            content = b"" if begin and response.status < 300 else response.read()
            return Answer(response.status, {name.lower(): text for name, text in response.getheaders()}, content)
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.call("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})

    def ok(self, method: str, path: str, value: Any = None, **options: Any) -> Any:
        """The JSON of an answer that must not be a refusal."""
        answer = self.call(method, path, value, **options)
        assert answer.status < 300, answer.body
        return answer.json

    def as_run(self, run: Mapping[str, Any]) -> Client:
        return replace(self, token=run["token"])

    def make_run(self, **request: Any) -> Any:
        """An interactive run, unless the request says otherwise."""
        usual: dict[str, Any] = {"workspace": "local", "experiment": "trial", "kind": "interactive"}
        return self.ok("POST", "/api/runs", {**usual, **request})

    def new_run_path(self) -> str:
        """The path of a new interactive run."""
        return f"/api/runs/{self.make_run()['id']}"

    def end(self, run: Mapping[str, Any], outcome: str = "completed", **more: Any) -> None:
        self.ok("POST", f"/api/runs/{run['id']}/facts", {"fact": "ended", "outcome": outcome, **more})

    @contextmanager
    def events(self, run_id: str) -> Iterator[Iterator[tuple[str, Any]]]:
        """The events of a run; comments come as ("", None)."""
        connection = self._connect()
        try:
            response = self._send(connection, "GET", f"/api/runs/{run_id}/events", None, None, None)
            assert response.status == 200
            assert response.headers["content-type"].startswith("text/event-stream")
            yield _events(response)
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        return http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=PATIENCE)

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        value: Any,
        body: bytes | Iterator[bytes] | None,
        headers: Mapping[str, str] | None,
    ) -> http.client.HTTPResponse:
        every = dict(self.headers)
        if self.token is not None:
            every["Authorization"] = f"Bearer {self.token}"
        if value is not None:
            body, every["Content-Type"] = json.dumps(value).encode(), "application/json"
        connection.request(method, path, body, {**every, **(headers or {})})
        return connection.getresponse()


def _events(response: http.client.HTTPResponse) -> Iterator[tuple[str, Any]]:
    name = ""
    while line := response.readline():
        text = line.decode().rstrip("\n")
        if text.startswith(":"):
            yield "", None
        elif text.startswith("event: "):
            name = text.removeprefix("event: ")
        elif text.startswith("data: "):
            yield name, json.loads(text.removeprefix("data: "))


@dataclass(frozen=True)
class Served:
    """A server in this process, on a thread of its own."""

    settings: Settings
    client: Client
    app: Any

    def token_of(self, run_id: str) -> str:
        return run_token(self.settings.secret, run_id)

    def stored_run(self, **request: Any) -> Any:
        """A script run as it is stored when it is asked for, with its token; it is not put in the queue."""
        context = self.app.state.context
        asked = run_request.RunRequest(**{"workspace": "local", "experiment": "trial", **request})
        run = run_request.store(context, asked)
        return {**self.client.ok("GET", f"/api/runs/{run.id}"), "token": self.token_of(run.id)}


@contextmanager
def serve(settings: Settings, **options: Any) -> Iterator[Served]:
    listener = listen("127.0.0.1", 0, None)
    settings = replace(settings, url=address("127.0.0.1", listener.getsockname()[1]))
    started = threading.Event()
    server = Server(create_app(settings), started.set, **options)
    failure: list[BaseException] = []

    def run() -> None:
        try:
            server.run(sockets=[listener])
        except BaseException as error:  # noqa: BLE001 - told to the test below
            failure.append(error)
        finally:
            started.set()

    thread = threading.Thread(target=run, name="server")
    with pytest.MonkeyPatch.context() as patch:
        # The process that forks node runners comes with the first run, not ahead of it: most tests here run nothing.
        patch.setattr(Engines, "get_ready", lambda engines, sdk: None)
        thread.start()
        try:
            assert started.wait(PATIENCE)
            if failure:
                raise failure[0]
            yield Served(settings, Client(settings.url, settings.token), server.config.app)
        finally:
            server.end()
            thread.join(PATIENCE)
            assert not thread.is_alive()
            listener.close()


on_both_databases = pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
"""For one story of each part of the API; that the statements are right on both is shown by the tests of the store."""


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path, migrated_sqlite: Path) -> str:
    """The address of a fresh database: of SQLite, where the test does not say `on_both_databases`."""
    if getattr(request, "param", "sqlite") == "postgresql":
        return str(request.getfixturevalue("postgresql_url"))
    return f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'runyard.db')}"


@pytest.fixture
def served(home: Path, database_url: str) -> Iterator[Served]:
    """A server, with a database of its own elsewhere."""
    with serve(Settings(home=home, database_url=database_url, token=secrets.token_hex(8), secret="s3cret")) as it:
        yield it


@pytest.fixture
def served_on_sqlite(home: Path, migrated_sqlite: Path) -> Iterator[Served]:
    """A server whose database is a file in its home folder."""
    shutil.copy(migrated_sqlite, home / "runyard.db")
    with serve(Settings(home=home, token=secrets.token_hex(8), secret="s3cret")) as it:
        yield it


@pytest.fixture
def client(served: Served) -> Client:
    """Speaks to `served` with the user's token."""
    return served.client


@pytest.fixture
def signed_in() -> Callable[[Client], Client]:
    """Makes of a client with the token a browser without a browser: it has nothing but the cookie of a session, and
    marks its changes."""

    def enter(client: Client) -> Client:
        link = urlsplit(client.ok("POST", "/api/studio/links")["url"])
        stranger = replace(client, token=None)
        answer = stranger.get(f"{link.path}?{link.query}")
        assert answer.status == 200, answer.body
        cookie = answer.headers["set-cookie"].partition(";")[0]
        return replace(stranger, headers={"Cookie": cookie, "X-Runyard-Studio": "1"})

    return enter


@pytest.fixture
def here(served_on_sqlite: Served) -> Client:
    """Speaks to `served_on_sqlite` with the user's token."""
    return served_on_sqlite.client


@pytest.fixture
def mlflow_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """MLflow's package, with its built pages, in reach of the server: that of the environment with its client."""
    (packages,) = environment("mlflow").parents[1].glob("lib/python3*/site-packages")
    (described,) = packages.glob("mlflow-3*.dist-info")
    place = tmp_path / "installed"
    place.mkdir()
    for each in (packages / "mlflow", described):
        (place / each.name).symlink_to(each)
    monkeypatch.syspath_prepend(place)
    return place / "mlflow"


class Reporter:
    """The reporter of a run: sends deliveries, on a connection of its own."""

    def __init__(self, client: Client, run: Any) -> None:
        self.client, self.run, self.path = client.as_run(run), run, f"/api/runs/{run['id']}"

    def send(self, **delivery: Any) -> Answer:
        return self.client.call("POST", f"{self.path}/deliveries", body=encode(Delivery(**delivery)))

    def deliver(self, **delivery: Any) -> Any:
        """The receipt."""
        answer = self.send(**delivery)
        assert answer.status == 200, answer.body
        return json.loads(answer.body.splitlines()[0])

    @contextmanager
    def held(self, **delivery: Any) -> Iterator[tuple[Any, http.client.HTTPResponse]]:
        """A receipt, and the response, which is still open."""
        parts = urlsplit(self.client.url)
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=PATIENCE)
        try:
            headers = {"Authorization": f"Bearer {self.client.token}"}
            connection.request("POST", f"{self.path}/deliveries", encode(Delivery(**delivery, hold=True)), headers)
            response = connection.getresponse()
            assert response.status == 200
            yield json.loads(response.readline()), response
        finally:
            connection.close()


@pytest.fixture
def one(here: Client) -> Reporter:
    """Reports for a run of `served_on_sqlite`."""
    return Reporter(here, here.make_run())


class Process:
    """`python -m runyard.server` for a home folder."""

    def __init__(self, home: Path, arguments: tuple[str, ...], variables: Mapping[str, str]) -> None:
        self.home = home
        known = {name: value for name, value in os.environ.items() if not name.startswith("RUNYARD_")}
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "runyard.server", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**known, "RUNYARD_HOME": str(home), **variables},
        )

    def ready(self) -> Client:
        """Wait until the server has said where it is."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            running = read_server(self.home)
            if running is not None and running.pid == self.popen.pid:
                return Client(running.url, read_token(self.home))
            if self.popen.poll() is not None:
                pytest.fail(f"the server ended with {self.popen.returncode}: {self.popen.communicate()[1]}")
            time.sleep(0.02)
        pytest.fail("the server did not start in time")

    def end(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal, wait; the exit code and what was said on stderr."""
        if self.popen.poll() is None:
            self.popen.send_signal(how)
        return self.wait()

    def wait(self) -> tuple[int, str]:
        said = self.popen.communicate(timeout=PATIENCE)[1]
        return self.popen.returncode, said


Start = Callable[..., Process]


@pytest.fixture
def start(home: Path) -> Iterator[Start]:
    """Starts server processes for `home` (or another folder); none outlives the test."""
    processes: list[Process] = []

    def begin(*arguments: str, at: Path = home, **variables: str) -> Process:
        # A port of its own, unless the test says otherwise: tests run side by side.
        if not {"--port", "RUNYARD_PORT"} & {*arguments, *variables}:
            arguments = (*arguments, "--port", "0")
        processes.append(Process(at, arguments, variables))
        return processes[-1]

    yield begin
    for process in processes:
        if process.popen.poll() is None:
            process.popen.kill()
            process.popen.communicate()
