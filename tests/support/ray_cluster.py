"""A real Ray cluster on loopback: a head and nodes, each a session of processes of its own, ended by their ids.

`ray stop` would end every Ray of the machine. Tests that use a cluster are marked `xdist_group("ray")`, so that one
worker starts one cluster for all of them. Should the tests be killed, the cluster ends with them.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest
from tests.support import power
from tests.support.frameworks import environment
from tests.support.ports import free_ports

from runyard.engines.ray import tether
from runyard.system.processes import alive
from runyard.system.processes import started as began

HEALTH = {
    # A lost node is noticed in about three seconds; by default it takes up to a minute.
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
    # Ray's head forks a process for each ray:// client, in which gRPC's own fork handlers crash now and then.
    "GRPC_ENABLE_FORK_SUPPORT": "0",
    # A head that a test has stopped for a while is waited for.
    "RAY_gcs_rpc_server_reconnect_timeout_s": "240",
    "RAY_worker_niceness": "0",
    # What no test looks at, and what takes half of the CPU of a node that is idle.
    "RAY_enable_metrics_collection": "0",
    "REPORTER_UPDATE_INTERVAL_MS": "600000",
    "RAY_memory_monitor_refresh_ms": "0",
}
DEADLINE = 240.0
NODES, CORES = 3, 4
STORE = 80_000_000  # bytes of a node's object store: the least that Ray takes


AnyCluster = TypeVar("AnyCluster", bound="RayCluster")


class ClusterFailed(Exception):
    """A part of the cluster did not start; the text is what it said last."""


class Node:
    """One `ray start --block`, and everything below it."""

    def __init__(self, folder: Path, pid: int, address: str) -> None:
        self.folder, self.session, self.address = folder, pid, address
        self._began = began(pid)

    def processes(self) -> list[psutil.Process]:
        """Ray's own processes on this node, also when those that started them are gone."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(OSError, psutil.NoSuchProcess):
                if os.getsid(process.pid) == self.session:
                    found.append(process)
        return found

    def send(self, number: int) -> None:
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def lose(self) -> None:
        """The node's daemon is killed, and what watches it: what runs on the node must notice by itself."""
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.name() in ("ray", "raylet"):
                    process.kill()

    def kill(self) -> None:
        """All of the node is gone, with all that runs on it, as after a power cut."""
        power.cut(self.processes())

    @property
    def gone(self) -> bool:
        return self._began is None or not alive(self.session, self._began)


class RayCluster:
    """A cluster that runs. `python` is an interpreter that has Ray."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.python, self.folder = python, folder
        self._number = 10
        # Every cluster has its part of 127.0.0.0/8; Ray replaces 127.0.0.1 by the machine's own address.
        self.net = f"127.{secrets.randbelow(200) + 10}.{secrets.randbelow(250) + 1}"
        self.nodes: list[Node] = []
        self._children: list[subprocess.Popen[bytes]] = []
        (folder / "home").mkdir(parents=True)
        self.token_file = folder / "token"
        self.token_file.write_text(secrets.token_hex(32), "utf-8")
        self.variables = {
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.token_file),
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder),  # Ray leaves files there
        }
        self._port, self._client_port = free_ports(2, "0.0.0.0")
        self.head: Node | None = None

    @property
    def address(self) -> str:
        """For a driver on this machine."""
        return f"{self.net}.10:{self._port}"

    @property
    def client_address(self) -> str:
        """For a driver on any machine."""
        return f"ray://{self.net}.10:{self._client_port}"

    def options(self, **more: object) -> dict[str, Any]:
        """The options of a target on this cluster."""
        return {"address": self.address, "token_file": str(self.token_file), "ray_python": str(self.python), **more}

    def add(self, count: int = 1, cpus: int = CORES, **resources: float) -> list[Node]:
        """Add nodes, and wait until the cluster has them."""
        for last in (False, False, True):
            added = []
            for _ in range(count):
                self._number += 1
                options = [f"--address={self.address}", f"--num-cpus={cpus}", f"--resources={json.dumps(resources)}"]
                added.append(self._start(f"{self.net}.{self._number}", options))
                self.nodes.append(added[-1])
            try:
                self._await(added)
                return added
            except ClusterFailed:  # Ray gives a node 30 seconds to start, which is little on a busy machine
                self.remove(added)
                if last or self.head is None or self.head.gone:
                    raise
        raise AssertionError("not reached")

    def remove(self, nodes: list[Node]) -> None:
        for node in nodes:
            node.kill()
            self.nodes.remove(node)

    def node_of(self, process: psutil.Process) -> Node:
        """The node that a process runs on."""
        sessions = set()
        for one in [process, *process.parents()]:
            with contextlib.suppress(OSError):
                sessions.add(os.getsid(one.pid))
        return next(node for node in self.nodes if node.session in sessions)

    def drain(self, node: Node, seconds: int | None = None) -> None:
        """Announce that a node will be taken away: in so many seconds, as a cloud does with those that it sold cheaply,
        or once nothing runs there."""
        script = (
            "import ray, sys\n"
            "from ray.core.generated.autoscaler_pb2 import DrainNodeReason\n"
            f"ray.init({self.address!r}, logging_level='ERROR', log_to_driver=False)\n"
            "address, deadline = sys.argv[1:]\n"
            "[name] = [one['NodeID'] for one in ray.nodes() if one['Alive'] and one['NodeManagerAddress'] == address]\n"
            "client = ray._raylet.GcsClient(ray.get_runtime_context().gcs_address)\n"
            "why = DrainNodeReason.Value('DRAIN_NODE_REASON_PREEMPTION')\n"
            "accepted, said = client.drain_node(name, why, 'taken back', int(deadline))\n"
            "assert accepted, said\n"
        )
        deadline = 0 if seconds is None else int(time.time() + seconds) * 1000
        command = [str(self.python), "-c", script, node.address, str(deadline)]
        subprocess.run(command, env={**os.environ, **self.variables}, check=True)

    def settle(self) -> None:
        """Replace the nodes that are gone."""
        gone = [node for node in self.nodes if node.gone]
        for node in gone:
            self.nodes.remove(node)
        if gone:
            self.add(len(gone))

    def _await(self, nodes: list[Node]) -> None:
        script = (
            "import ray, sys, time\n"
            f"ray.init({self.address!r}, logging_level='ERROR', log_to_driver=False)\n"
            "alive = lambda: {node['NodeManagerAddress'] for node in ray.nodes() if node['Alive']}\n"
            "while not set(sys.argv[1:]) <= alive(): time.sleep(.1)\n"
        )
        command = [str(self.python), "-c", script, *(node.address for node in nodes)]
        with (self.folder / "await.log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **self.variables})
        try:
            _wait(lambda: process.poll() is not None, nodes, "the nodes of Ray")
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            raise ClusterFailed((self.folder / "await.log").read_text("utf-8", "replace")[-1000:])

    def end(self) -> None:
        for node in [*([self.head] if self.head else []), *self.nodes]:  # the head first: it may start others
            node.kill()
        for child in self._children:
            child.wait()

    def start_head(self, *more: str, **variables: str) -> Node:
        """Start the head, also in the place of one that is gone: a new cluster at the same address."""
        options = [
            *more,
            "--head",
            f"--port={self._port}",
            f"--ray-client-server-port={self._client_port}",
            "--include-dashboard=false",
            "--num-cpus=0",
            "--disable-usage-stats",
        ]
        self.head = self._start(f"{self.net}.10", options, variables)
        _wait(lambda: _listens(f"{self.net}.10", self._port), [self.head], "the head of Ray")
        return self.head

    def command(self, parent: str) -> list[str]:
        """What starts a part of the cluster, but for its options. It ends when the process `parent` is gone."""
        options = ["--block", "--include-log-monitor=false", f"--object-store-memory={STORE}"]
        ray = [str(self.python.parent / "ray"), "start", *options]
        return [sys.executable, "-I", "-S", tether.__file__, parent, *ray]

    def _start(self, address: str, options: list[str], more: Mapping[str, str] | None = None) -> Node:
        folder = self.folder / f"{address.rpartition('.')[2]}-{secrets.token_hex(2)}"  # short: it holds sockets
        folder.mkdir()
        place = [f"--node-ip-address={address}", f"--temp-dir={folder}/ray"]
        variables = {**os.environ, **self.variables, **HEALTH, **(more or {})}
        variables["PATH"] = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*self.command(str(os.getpid())), *options, *place],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=variables,
                start_new_session=True,
            )
        self._children.append(process)
        return Node(folder, process.pid, address)


@contextlib.contextmanager
def started(nodes: int = NODES) -> Iterator[RayCluster]:
    """A cluster of so many nodes, for as long as the block lasts."""

    def start(cluster: RayCluster) -> None:
        cluster.start_head()
        cluster.add(nodes)

    with made(RayCluster, start) as cluster:
        yield cluster


@contextlib.contextmanager
def made(kind: type[AnyCluster], start: Callable[[AnyCluster], None]) -> Iterator[AnyCluster]:
    """A cluster, started in a way of its own, for as long as the block lasts."""
    try:
        python = environment("ray")
    except RuntimeError as error:
        pytest.skip(f"Ray cannot be installed: {error}")
    for last in (False, False, True):
        # A short name: the path of a socket has at most 107 bytes.
        with tempfile.TemporaryDirectory(prefix="yr", dir="/tmp", ignore_cleanup_errors=True) as name:
            cluster = kind(python, Path(name))
            try:
                try:
                    start(cluster)
                except ClusterFailed:
                    if last:
                        raise
                    continue
                yield cluster
                return
            finally:
                cluster.end()


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[RayCluster]:
    """A cluster; one for all tests of this process. Skips where there can be none."""
    with started() as cluster:
        yield cluster


def _wait(done: Callable[[], bool], nodes: list[Node], what: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while not done():
        for node in nodes:
            if node.gone or time.monotonic() > deadline:
                said = (node.folder / "log").read_text("utf-8", "replace")[-2000:]
                raise ClusterFailed(f"waited for {what}: {said}")
        time.sleep(0.1)


def _listens(host: str, port: int) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection((host, port), 1).close()
        return True
    return False
