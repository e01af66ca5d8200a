"""A Ray on loopback, of a head and some nodes, for as long as a benchmark needs it. `ray stop` would end every Ray of
the machine."""

from __future__ import annotations

import contextlib
import secrets
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Failed, end_tree, free_port, last_words, wait_until
from benchmarks.venvs import Environment, variables


@dataclass(frozen=True)
class Head:
    """Where the head takes jobs, where nodes and drivers find it, and the variables that let a client in."""

    address: str
    cluster: str
    token: Path
    variables: dict[str, str]


@contextlib.contextmanager
def started(environment: Environment, nodes: int = 0, cores: int = 2) -> Iterator[Head]:
    """A head that has cores itself, or one without and so many nodes that have them."""
    with (
        tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as name,
        contextlib.ExitStack() as stack,
    ):
        folder = Path(name)
        (folder / "home").mkdir()
        token = folder / "token"
        token.write_text(secrets.token_hex(32), "utf-8")
        known = {
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder),  # it leaves files there
        }
        head = Head(f"http://127.0.0.1:{free_port()}", f"127.0.0.10:{free_port()}", token, known)
        process = _start(stack, _head(environment, folder, head, 0 if nodes else cores), folder / "head.log", known)
        wait_until(lambda: _asked(head, "/api/jobs/", process, folder), "the start of Ray", timeout=120, interval=0.1)
        for number in range(nodes):
            _start(stack, _node(environment, folder, head, number, cores), folder / f"node{number}.log", known)
        wait_until(
            lambda: (_asked(head, "/nodes?view=summary", process, folder) or "").count('"ALIVE"') >= nodes + 1,
            "the start of Ray's nodes",
            timeout=120,
            interval=0.1,
        )
        yield head


def _start(
    stack: contextlib.ExitStack, command: list[str], path: Path, known: dict[str, str]
) -> subprocess.Popen[bytes]:
    with path.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=variables(**known), start_new_session=True)
    stack.callback(end_tree, process)
    return process


def _head(environment: Environment, folder: Path, head: Head, cores: int) -> list[str]:
    host, _, port = head.cluster.partition(":")
    return [
        *_ray_start(environment, host, cores, folder / "head"),
        "--head",
        f"--port={port}",
        "--include-dashboard=true",
        "--dashboard-host=127.0.0.1",
        f"--dashboard-port={head.address.rpartition(':')[2]}",
    ]


def _node(environment: Environment, folder: Path, head: Head, number: int, cores: int) -> list[str]:
    start = _ray_start(environment, f"127.0.0.{11 + number}", cores, folder / f"n{number}")
    return [*start, f"--address={head.cluster}"]


def _ray_start(environment: Environment, host: str, cores: int, folder: Path) -> list[str]:
    return [
        environment.command("ray"),
        "start",
        "--block",
        f"--node-ip-address={host}",
        f"--num-cpus={cores}",
        "--object-store-memory=80000000",
        f"--temp-dir={folder}",
        "--disable-usage-stats",
    ]


def _asked(head: Head, path: str, process: subprocess.Popen[bytes], folder: Path) -> str | None:
    """What the head answers, as it stands; None while it does not."""
    if process.poll() is not None:
        raise Failed("Ray ended: " + last_words((folder / "head.log").read_text("utf-8", "replace")))
    token = head.token.read_text("utf-8")
    request = urllib.request.Request(f"{head.address}{path}", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return str(response.read().decode("utf-8", "replace")) if response.status == 200 else None
    except (urllib.error.URLError, OSError):
        return None
