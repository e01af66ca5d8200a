"""A real server for the node runner to talk to, and run folders as an engine lays them out."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.waiting import wait_until

import runyard
from runyard.client.http import Client, Locator, quote
from runyard.contracts import manifest, pack
from runyard.contracts.delivery import Delivery
from runyard.contracts.distribution import Distribution
from runyard.contracts.home import read_server, read_token
from runyard.contracts.plan import Launch, Plan, node_folder
from runyard.node.delivery.batch import Batch
from runyard.node.delivery.follow_loop import Source
from runyard.node.delivery.reporter import Reporter
from runyard.node.delivery.retrying_client import Refused, RetryingClient
from runyard.node.launch import processes
from runyard.node.signals import Signals
from runyard.system.processes import end_with_parent

SOURCES = Path(runyard.__file__).parent.parent
DEADLINE = 60.0


def wait_for(condition: Callable[[], object], what: str) -> None:
    wait_until(condition, what, DEADLINE)


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
        result = self.client.post("/api/runs", {**usual, **request})
        return RunOnServer(self, result["id"], result["token"])


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

    def client(self, folder: Path) -> RetryingClient:
        return RetryingClient(self.id, self.locator(), folder)


class Courier:
    """Delivers what sources have, as the loop of a node runner does."""

    def __init__(self, client: RetryingClient) -> None:
        self._reporter = Reporter(client)

    def send_new(self, source: Source) -> bool:
        """Whether there was anything new that was taken."""
        batch = Batch()
        source.gather(batch)
        return self._send(batch)

    def send_rest(self, source: Source) -> None:
        while True:
            batch = Batch()
            source.gather_rest(batch)
            if not batch.parts:
                return
            self._send(batch)

    def _send(self, batch: Batch) -> bool:
        if not batch.parts:
            return False
        receipt = self._reporter.deliver(Delivery(parts=batch.parts))
        batch.take(receipt.parts)
        return not all(isinstance(answer, Refused) for answer in receipt.parts)


_PATIENT = f"import sys; sys.path.insert(0, {str(SOURCES)!r}); from runyard.node.signals import Signals; s = Signals()"
_RUNNER = "from runyard.node.runner import main; sys.exit(main(sys.argv[1:], s))"


@dataclass
class Node:
    """A run's folder, and the node runner in it."""

    run: RunOnServer
    folder: Path
    runner: subprocess.Popen[bytes] | None = None
    sources: Path = SOURCES  # what the node runner is started from
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def log(self) -> Path:
        return self.folder / "streams" / "std_log.txt"

    def start(self, *options: str, but: str = "") -> subprocess.Popen[bytes]:
        """Start the node runner; `but` is a statement that it begins with, to make it see the world otherwise."""
        program = ["-c", f"{_PATIENT}; {but}; {_RUNNER}"] if but else [str(self.sources / "runyard" / "node")]
        with open(self.folder / "streams" / "runner.log", "ab") as log:
            self.runner = subprocess.Popen(
                [sys.executable, "-I", "-S", *program, str(self.folder), *options],
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
        result = (self.folder / "streams/runner.log").read_text() if self.folder.exists() else ""
        assert code == 0, result
        assert not self.folder.exists(), result
        return self.run.get()

    def wait_for_output(self, text: str) -> None:
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


@dataclass
class Gang:
    """The nodes of one run, all on this machine."""

    run: RunOnServer
    nodes: list[Node]

    def start(self, but: Mapping[int, str] | None = None) -> None:
        """Start every node runner; `but` is for some of them (`Node.start`)."""
        for number, node in enumerate(self.nodes):
            node.start(but=(but or {}).get(number, ""))

    def finish(self, but: Mapping[int, str] | None = None) -> Any:
        """Run to the end; what the server then knows of the run."""
        self.start(but)
        return self.wait()

    def wait(self) -> Any:
        for node in reversed(self.nodes):
            node.wait()
        return self.run.get()

    def log(self, rank: int) -> Path:
        ranks = Distribution.from_dict(Plan.load(self.nodes[0].folder).launch.distribution).ranks()
        return self.nodes[ranks[rank].node].folder / "streams" / f"std_log_process_{rank}.txt"

    def wait_for_output(self, rank: int, text: str) -> None:
        log = self.log(rank)
        wait_for(lambda: log.exists() and text in log.read_text("utf-8", "replace"), f"{text!r} of rank {rank}")

    def std_log(self, rank: int) -> str:
        return self.run.read(f"user_logs/std_log_process_{rank}.txt").decode()


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
def node(gang: Callable[..., Gang]) -> Prepare:
    """Lays out run folders, `node({"train.py": "..."}, script="train.py")`; no process of theirs outlives the test."""

    def prepare(files: Mapping[str, str | bytes], **more: Any) -> Node:
        return gang(files, Distribution(), **more).nodes[0]

    return prepare


@pytest.fixture
def gang(shared_server: Server, tmp_path: Path) -> Iterator[Callable[..., Gang]]:
    """Lays out the folders of a run over many nodes, `gang({"train.py": "..."}, Distribution(nodes=2))`."""
    made: list[Node] = []

    def prepare(
        files: Mapping[str, str | bytes],
        distribution: Distribution,
        server: Server = shared_server,
        plan: Mapping[str, Any] | None = None,
        run: RunOnServer | None = None,
        **launch: Any,
    ) -> Gang:
        run = server.make_run() if run is None else run
        snapshot = store_snapshot(files, tmp_path / "objects")
        launch.setdefault("interpreter", sys.executable)
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
            "launch": Launch(distribution=distribution.as_dict(), **launch),
            "snapshot_id": snapshot.id,
            "server_file": str(server.home / "server.json"),
            "objects": str(tmp_path / "objects"),
            "sdk": str(SOURCES),
            "grace_seconds": 10.0,
            "link": uuid.uuid4().hex,
        }
        nodes = []
        for number in range(distribution.nodes):
            folder = node_folder(tmp_path / "runs", run.id, number)
            (folder / "streams").mkdir(parents=True)
            (folder / "manifest").write_bytes(snapshot.text)
            Plan(**{**usual, "node": number, **(plan or {})}).save(folder)
            nodes.append(Node(run, folder))
        made.extend(nodes)
        return Gang(run, nodes)

    yield prepare
    for each in made:
        for runner in each.started:
            if runner.poll() is None:
                runner.kill()
                runner.wait()
    for each in made:
        left = each.processes()
        for process in left:
            os.kill(process.pid, signal.SIGKILL)
        assert not left, f"left behind by {each.run.id}: {left}"


def store_snapshot(files: Mapping[str, str | bytes], objects: Path) -> manifest.Manifest:
    """Put files into a folder of objects, as the server would, and return their manifest."""
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
def on_server(shared_server: Server, tmp_path: Path) -> Callable[[Mapping[str, str | bytes]], manifest.Manifest]:
    """Gives the server a snapshot of some files; returns its manifest."""

    def store(files: Mapping[str, str | bytes]) -> manifest.Manifest:
        source = tmp_path / "source"
        made = store_snapshot(files, source)
        client, path = shared_server.client, f"/api/snapshots/{made.id}"
        missing = client.put(path, body=made.text)["missing"]
        if missing:
            contents = [(source / digest[:2] / digest[2:]).read_bytes() for digest in missing]
            packed = b"".join(pack.header(d, len(c)) + c for d, c in zip(missing, contents, strict=True))
            client.post("/api/objects", body=packed)
            assert client.put(path, body=made.text)["missing"] == []
        shutil.rmtree(source)
        return made

    return store


@pytest.fixture
def signals() -> Iterator[Signals]:
    """Those of a node runner, in this process, which has its own again afterwards."""
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGHUP)
    former = {number: signal.getsignal(number) for number in numbers}
    descriptor = signal.set_wakeup_fd(-1)
    yield Signals()
    signal.set_wakeup_fd(descriptor)
    for number, handler in former.items():
        signal.signal(number, handler)


@pytest.fixture
def courier(run: RunOnServer, tmp_path: Path) -> Courier:
    """Delivers sources of `run` to its server."""
    return Courier(run.client(tmp_path))


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
        result = {
            "run_id": run.id,
            "token": run.token,
            "server_url": run.server.client.url,
            "server_file": str(run.server.home / "server.json"),
            "owner_pid": owner,
            "owner_started": None,
            "lead": lead,
            **more,
        }
        (telemetry / "ship.json").write_text(json.dumps(result))

    return write
