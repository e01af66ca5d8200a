"""A real server for the node runner to talk to, and run folders as an engine lays them out."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import runyard
from runyard.contracts import manifest
from runyard.contracts.home import read_server, read_token
from runyard.contracts.plan import Launch, Plan
from runyard.node import processes
from runyard.node.courier import Courier
from runyard.sdk.client import Client, Locator, quote
from runyard.sdk.processes import end_with_parent

SOURCES = Path(runyard.__file__).parent.parent
DEADLINE = 60.0


def wait_for(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)


@dataclass
class Server:
    """`python -m runyard.server` for a home of its own."""

    home: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        known = {name: value for name, value in os.environ.items() if not name.startswith("RUNYARD_")}
        with open(self.home / "server.out", "ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "runyard.server", "--port", "0"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env={**known, "RUNYARD_HOME": str(self.home)},
                preexec_fn=end_with_parent(),
            )
        wait_for(self._is_up, "the server to start")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def _is_up(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.home / "server.out").read_text()
        running = read_server(self.home)
        return running is not None and running.pid == self.process.pid

    @property
    def client(self) -> Client:
        running = read_server(self.home)
        assert running is not None
        return Client(Locator(running.url, read_token(self.home), self.home / "server.json"))

    def make_run(self, **request: Any) -> RunOnServer:
        """A run that the server leaves to whoever made it: the test starts its node runner itself."""
        usual = {"workspace": "local", "experiment": "trial", "kind": "interactive"}
        said = self.client.post("/api/runs", {**usual, **request})
        return RunOnServer(self, said["id"], said["token"])


@dataclass(frozen=True)
class RunOnServer:
    server: Server
    id: str
    token: str

    def get(self) -> Any:
        return self.server.client.get(f"/api/runs/{self.id}")

    def files(self) -> dict[str, int]:
        found = self.server.client.get(f"/api/runs/{self.id}/files")["files"]
        return {each["name"]: each["size"] for each in found}

    def read(self, name: str) -> bytes:
        with self.server.client.stream(f"/api/runs/{self.id}/files/{quote(name)}") as answer:
            return b"".join(answer)

    def metric(self, name: str) -> list[Any]:
        found = self.server.client.get(f"/api/runs/{self.id}/metrics", {"name": name})["metrics"]
        return list(found[self.id][0]["values"]) if found else []

    def locator(self) -> Locator:
        return replace(self.server.client.locator, token=self.token)

    def courier(self, folder: Path) -> Courier:
        return Courier(self.id, self.locator(), folder)


@dataclass
class Node:
    """A run's folder, and the node runner in it."""

    run: RunOnServer
    folder: Path
    runner: subprocess.Popen[bytes] | None = None
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def log(self) -> Path:
        return self.folder / "streams" / "std_log.txt"

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        with open(self.folder / "streams" / "runner.log", "ab") as log:
            self.runner = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SOURCES / "runyard" / "node"), str(self.folder), *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started.append(self.runner)
        return self.runner

    def finish(self, *options: str) -> Any:
        """Run to the end; what the server then knows of the run."""
        self.start(*options)
        return self.wait()

    def wait(self) -> Any:
        assert self.runner is not None
        code = self.runner.wait(DEADLINE)
        said = (self.folder / "streams/runner.log").read_text() if self.folder.exists() else ""
        assert code == 0, said
        assert not self.folder.exists(), said
        return self.run.get()

    def says(self, text: str) -> None:
        wait_for(lambda: self.log.exists() and text in self.log.read_text("utf-8", "replace"), f"{text!r} in the log")

    def processes(self) -> list[processes.Process]:
        """Every process that sees this run's folder in its environment."""
        mark = f"RUNYARD_TELEMETRY={self.folder}/telemetry".encode()
        found = []
        for pid, process in processes.table().items():
            try:
                if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    found.append(process)
            except OSError:
                continue
        return found


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that leave it alone."""
    server = Server(tmp_path_factory.mktemp("home"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def own_server(home: Path) -> Iterator[Server]:
    """A server that the test may kill and start again."""
    server = Server(home)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def run(shared_server: Server) -> RunOnServer:
    return shared_server.make_run()


Prepare = Callable[..., Node]


@pytest.fixture
def node(shared_server: Server, tmp_path: Path) -> Iterator[Prepare]:
    """Lays out run folders, `node({"train.py": "..."}, script="train.py")`; no process of theirs outlives the test."""
    made: list[Node] = []

    def prepare(
        files: Mapping[str, str | bytes],
        server: Server = shared_server,
        plan: Mapping[str, Any] | None = None,
        **launch: Any,
    ) -> Node:
        run = server.make_run()
        folder = tmp_path / "runs" / run.id
        (folder / "streams").mkdir(parents=True)
        snapshot = store_snapshot(files, tmp_path / "objects")
        (folder / "manifest").write_bytes(snapshot.text)
        if "command" not in launch:
            launch.setdefault("script", "train.py")
        usual: dict[str, Any] = {
            "run_id": run.id,
            "root_run_id": run.id,
            "experiment": "trial",
            "experiment_id": str(uuid.uuid4()),
            "workspace": "local",
            "subscription_id": "00000000-0000-0000-0000-000000000000",
            "resource_group": "local",
            "target": "local",
            "token": run.token,
            "server_url": server.client.url,
            "launch": Launch(interpreter=sys.executable, **launch),
            "snapshot_id": snapshot.id,
            "server_file": str(server.home / "server.json"),
            "objects": str(tmp_path / "objects"),
            "sdk": str(SOURCES),
            "grace_seconds": 10.0,
        }
        Plan(**{**usual, **(plan or {})}).save(folder)
        made.append(Node(run, folder))
        return made[-1]

    yield prepare
    for each in made:
        for runner in each.started:
            if runner.poll() is None:
                runner.kill()
                runner.wait()
        left = each.processes()
        for process in left:
            os.kill(process.pid, signal.SIGKILL)
        assert not left, f"left behind by {each.run.id}: {left}"


def store_snapshot(files: Mapping[str, str | bytes], objects: Path) -> manifest.Manifest:
    """Put files into a folder of objects, as the server would, and tell their manifest."""
    entries = []
    for path, content in files.items():
        content = content.encode() if isinstance(content, str) else content
        digest = hashlib.sha256(content).hexdigest()
        place = objects / digest[:2] / digest[2:]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        entries.append(manifest.Entry(path, digest=digest, size=len(content)))
    return manifest.make(entries)


@pytest.fixture
def snapshot() -> Callable[[Mapping[str, str | bytes], Path], manifest.Manifest]:
    return store_snapshot


@pytest.fixture
def telemetry(tmp_path: Path) -> Path:
    """A telemetry folder, as the SDK makes it."""
    folder = tmp_path / "telemetry"
    (folder / "journal").mkdir(parents=True)
    (folder / "spool").mkdir()
    return folder


@pytest.fixture
def until() -> Callable[[Callable[[], object], str], None]:
    """Waits until a condition holds, and fails the test when it never does."""
    return wait_for


@pytest.fixture
def order(telemetry: Path) -> Callable[..., None]:
    """Writes the ship.json of an interactive run."""

    def write(run: RunOnServer, owner: int, lead: bool = True, **more: Any) -> None:
        said = {
            "run_id": run.id,
            "token": run.token,
            "server_url": run.server.client.url,
            "server_file": str(run.server.home / "server.json"),
            "owner_pid": owner,
            "owner_started": None,
            "lead": lead,
            **more,
        }
        (telemetry / "ship.json").write_text(json.dumps(said))

    return write
