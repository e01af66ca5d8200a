"""Object stores for tests: an S3 server (moto) and Azure Blob's protocol (Azurite), on ports and folders of their own.

moto is in an environment of its own, as the frameworks are; Azurite comes from npm, and is kept beside them. Where one
cannot be had, the tests that need it are skipped with the reason.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import hmac
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path

import pytest
from tests.support import frameworks
from tests.support.ports import free_port

AZURITE = "azurite@3.35.0"
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account of the emulator, which is the same everywhere and no secret."""
SECRET = "moto-takes-any-secret"


@dataclass(frozen=True)
class ObjectStore:
    """A running server with one bucket or container. `settings` and `secrets` are those of a datastore on it."""

    kind: str
    settings: Mapping[str, str]
    secrets: Mapping[str, str] = field(repr=False)

    def datastore(self, name: str, **more: object) -> dict[str, object]:
        """The body of the request that registers it."""
        return {"name": name, "kind": self.kind, "settings": dict(self.settings), "secrets": dict(self.secrets), **more}


@pytest.fixture(scope="session", params=["s3", "azure"])
def object_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    """An object store of each sort, shared by all tests of a worker. Use names of your own in it."""
    server = s3_server if request.param == "s3" else azure_server
    with server(tmp_path_factory.mktemp(request.param)) as made:
        yield made


@contextmanager
def s3_server(folder: Path) -> Iterator[ObjectStore]:
    python = frameworks.environment("moto")
    port = free_port()
    command = [python.parent / "moto_server", "-H", "127.0.0.1", "-p", str(port)]
    with _running(command, folder / "moto.log", port):
        url = f"http://127.0.0.1:{port}"
        urllib.request.urlopen(urllib.request.Request(f"{url}/bucket", method="PUT"), timeout=30).close()
        settings = {"bucket": "bucket", "endpoint": url, "region": "us-east-1", "access_key_id": "tests"}
        yield ObjectStore("s3", settings, {"secret_access_key": SECRET})


@contextmanager
def azure_server(folder: Path) -> Iterator[ObjectStore]:
    program = azurite()
    port = free_port()
    command = ["node", program, "--location", folder, "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    with _running([*command, "--silent", "--skipApiVersionCheck"], folder / "azurite.log", port):
        url = f"http://127.0.0.1:{port}/{ACCOUNT}"
        _make_container(url, "container")
        settings = {"account_name": ACCOUNT, "container_name": "container", "endpoint": url}
        yield ObjectStore("azure_blob", settings, {"account_key": KEY})


def azurite() -> Path:
    """The program, installed now if it is not there. Whoever else asks waits."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("Azurite needs node and npm")
    folder = frameworks.root() / AZURITE.replace("@", "-")
    program = folder / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), AZURITE]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
            if done.returncode:
                pytest.skip(f"Azurite cannot be installed: {done.stderr[-300:]}")
            (folder / "complete").touch()
    return program


def _make_container(url: str, name: str) -> None:
    """By the protocol itself: a PUT that is signed with the account's key."""
    date = formatdate(usegmt=True)
    account = url.rpartition("/")[2]
    resource = f"/{account}/{account}/{name}\nrestype:container"
    text = "\n".join(["PUT", *[""] * 11, f"x-ms-date:{date}", "x-ms-version:2021-08-06", resource])
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
    headers = {"x-ms-date": date, "x-ms-version": "2021-08-06", "Authorization": f"SharedKey {account}:{signature}"}
    request = urllib.request.Request(f"{url}/{name}?restype=container", method="PUT", headers=headers)
    urllib.request.urlopen(request, timeout=30).close()


@contextmanager
def _running(command: Sequence[object], log: Path, port: int) -> Iterator[None]:
    """A server from when its port takes connections until the end of the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command], stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=_environment()
        )
    try:
        deadline = time.monotonic() + 120
        while not _accepts(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]} did not start: {log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "AZURE_"))}


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
