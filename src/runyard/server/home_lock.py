"""One server per home folder: a lock that the system lets go of whatever way the process ends.

The file also records who holds it, and the last address, so that a server comes back where it was: the nodes of a
cluster know no other.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from runyard.contracts import home as homes
from runyard.system.json_files import BadFile, as_object, made_of


class Taken(Exception):
    """Another server has the home folder; the text names it."""


@dataclass(frozen=True)
class _Said:
    """What the file holds."""

    pid: int | None = None
    host: str | None = None
    port: int | None = None


class HomeLock:
    """Held from its making until the process ends, or the `with` block."""

    def __init__(self, home: Path) -> None:
        self._path = home / "server.lock"
        self._file = os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with self._file:
                raise Taken(_who(home, self._record().pid)) from None
        record = self._record()
        self.last_port = record.port if record.port is not None and 0 < record.port < 1 << 16 else None
        self.last_host = record.host
        self.record(self.last_host, self.last_port)

    def record(self, host: str | None, port: int | None) -> None:
        """Write down who holds the lock, and where it listens."""
        self._file.seek(0)
        self._file.write(json.dumps({"pid": os.getpid(), "host": host, "port": port}).encode("ascii"))
        self._file.truncate()
        self._file.flush()

    def __enter__(self) -> HomeLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _record(self) -> _Said:
        self._file.seek(0)
        try:
            return made_of(_Said, as_object(self._file.read(1000), self._path), self._path)
        except BadFile:
            return _Said()  # made a moment ago, cut short by a crash, or written by somebody else


def _who(home: Path, pid: int | None) -> str:
    running = homes.read_server(home)
    if running is not None and running.pid == pid:
        where = f"process {pid}, at {running.url}"
        return f"A server runs for {home} already: {where}. Use it, or stop it with `runyard down`."
    return f"A server is starting for {home} already: process {pid or 'unknown'}. Wait for it, or end that process."
