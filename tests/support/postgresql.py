"""PostgreSQL servers for tests and benchmarks, each in a folder of its own."""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

STARTED_WITHIN = 60.0


class NotInstalled(Exception):
    """PostgreSQL is not on this machine; the text says where it was looked for."""


@dataclass(frozen=True)
class PostgreSQL:
    """A server that listens on a socket in a folder of its own, so that no two can meet."""

    folder: Path

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def execute(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())


@contextlib.contextmanager
def started(*settings: str) -> Iterator[PostgreSQL]:
    """A server with these settings, in the form of `fsync=off`, until the end of the block."""
    binaries = _binaries()
    if binaries is None:
        raise NotInstalled("PostgreSQL is not installed: no initdb on PATH or in /usr/lib/postgresql")
    folder = Path(tempfile.mkdtemp(prefix="runyard-pg-"))
    try:
        as_user = _as_user(folder)
        options = ["--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
        subprocess.run(
            [*as_user, binaries / "initdb", "-D", folder / "data", "-U", "postgres", *options],
            check=True,
            cwd=folder,
            capture_output=True,
        )
        here = (f"unix_socket_directories={folder}", "unix_socket_permissions=0700", "listen_addresses=")
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*as_user, binaries / "postgres", "-D", folder / "data", *(f"--{each}" for each in (*here, *settings))],
                stdout=log,
                stderr=log,
                cwd=folder,
            )
        try:
            server = PostgreSQL(folder)
            _wait(server, process)
            yield server
        finally:
            process.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path | None:
    found = shutil.which("initdb")
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]), reverse=True)
    if found is not None:
        folders.insert(0, str(Path(found).resolve().parent))
    return next((Path(path) for path in folders if (Path(path) / "postgres").exists()), None)


def _as_user(folder: Path) -> list[str | Path]:
    """What to put before a command. PostgreSQL refuses to run as root; and it must not outlive a killed worker."""
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0:
        return [setpriv, "--pdeathsig", "QUIT"] if setpriv else []
    user = next(entry for name in ("postgres", "nobody") for entry in pwd.getpwall() if entry.pw_name == name)
    os.chown(folder, user.pw_uid, user.pw_gid)
    if setpriv is None:
        return ["runuser", "-u", user.pw_name, "--"]
    return [setpriv, f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--pdeathsig", "QUIT"]


def _wait(server: PostgreSQL, process: subprocess.Popen[bytes]) -> None:
    import psycopg

    deadline = time.monotonic() + STARTED_WITHIN
    while True:
        try:
            server.execute("SELECT 1")
            return
        except psycopg.OperationalError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                log = (server.folder / "log").read_text("utf-8", "replace")
                raise RuntimeError(f"PostgreSQL did not start: {error}\n{log}") from error
            time.sleep(0.02)
