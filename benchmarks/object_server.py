"""An S3 server (moto, in an environment of its own) with a bucket of random bytes, for what is measured against one."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure, venvs
from benchmarks.venvs import Say, variables

SERVER = ("moto[server]==5.2.5",)
BUCKET = "bucket"


@dataclass(frozen=True)
class Bucket:
    """Where a bucket is, and how much is in it."""

    endpoint: str
    files: int
    bytes: int
    key: str = "benchmark"
    secret: str = "moto-takes-any-secret"
    name: str = BUCKET

    @property
    def settings(self) -> dict[str, str]:
        """Those of a datastore on it, without the secret."""
        return {"bucket": self.name, "endpoint": self.endpoint, "region": "us-east-1", "access_key_id": self.key}

    @property
    def rclone(self) -> dict[str, str]:
        """The variables with which `s3:` is this server to rclone."""
        said = {"TYPE": "s3", "PROVIDER": "Other", "ENDPOINT": self.endpoint, "REGION": "us-east-1"}
        said |= {"ACCESS_KEY_ID": self.key, "SECRET_ACCESS_KEY": self.secret, "FORCE_PATH_STYLE": "true"}
        more = {f"RCLONE_CONFIG_S3_{name}": value for name, value in said.items()}
        return own_variables(**more, RCLONE_CONFIG="/dev/null")


@contextlib.contextmanager
def bucket(folder: Path, files: int, size: int, say: Say) -> Iterator[Bucket]:
    """A server with so many files of so many bytes each, until the end of the block."""
    environment = venvs.peers(SERVER, say)
    port = measure.free_port()
    endpoint = f"http://127.0.0.1:{port}"
    log = folder / "moto.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [environment.command("moto_server"), "-H", "127.0.0.1", "-p", str(port)],
            env=own_variables(),
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
        )
    try:
        measure.wait_until(lambda: _accepts(port), "the start of the S3 server")
        say(f"filling a bucket with {files:,} files of {size:,} bytes")
        _put(f"{endpoint}/{BUCKET}", None)
        body = os.urandom(size)
        for number in range(files):
            _put(f"{endpoint}/{BUCKET}/{number // 10:03d}/{number:05d}.bin", number.to_bytes(8, "big") + body[8:])
        yield Bucket(endpoint, files, files * size)
    finally:
        measure.end_tree(process)


def own_variables(**more: str) -> dict[str, str]:
    """The variables of a measured process, without the caller's own accounts and certificates of AWS."""
    return {name: value for name, value in variables(**more).items() if not name.startswith("AWS_")}


def _put(url: str, body: bytes | None) -> None:
    headers = {"Content-Type": "application/octet-stream"}  # else it is taken for a form
    urllib.request.urlopen(urllib.request.Request(url, data=body, headers=headers, method="PUT"), timeout=60).close()


def _accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
