"""A Ray of one node on loopback, for as long as a benchmark needs it. `ray stop` would end every Ray of the machine."""

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
    """Where the head takes jobs, and the variables that let a client in."""

    address: str
    variables: dict[str, str]


@contextlib.contextmanager
def started(environment: Environment) -> Iterator[Head]:
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "home").mkdir()
        token = secrets.token_hex(32)
        (folder / "token").write_text(token, "utf-8")
        known = {
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(folder / "token"),
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder),  # it leaves files there
        }
        port = free_port()
        with (folder / "head.log").open("wb") as log:
            process = subprocess.Popen(
                _command(environment, folder, port),
                stdout=log,
                stderr=log,
                env=variables(**known),
                start_new_session=True,
            )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_until(
                lambda: _takes_jobs(address, token, process, folder), "the start of Ray", timeout=120, interval=0.1
            )
            yield Head(address, known)
        finally:
            end_tree(process)


def _command(environment: Environment, folder: Path, dashboard: int) -> list[str]:
    return [
        environment.command("ray"),
        "start",
        "--block",
        "--head",
        "--node-ip-address=127.0.0.10",
        f"--port={free_port()}",
        "--include-dashboard=true",
        "--dashboard-host=127.0.0.1",
        f"--dashboard-port={dashboard}",
        "--num-cpus=2",
        "--object-store-memory=80000000",
        f"--temp-dir={folder}/head",
        "--disable-usage-stats",
    ]


def _takes_jobs(address: str, token: str, process: subprocess.Popen[bytes], folder: Path) -> bool:
    if process.poll() is not None:
        raise Failed("Ray ended: " + last_words((folder / "head.log").read_text("utf-8", "replace")))
    request = urllib.request.Request(f"{address}/api/jobs/", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
