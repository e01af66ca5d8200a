"""One server per home folder: a lock that the system lets go of whatever way the process ends.

The file also keeps who holds it, and the address of the last time, so that a server comes back where it was: the nodes
of a cluster know no other.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from runyard.contracts import home as homes


class Taken(Exception):
    """Another server has the home folder; the text says which."""


class HomeLock:
    """Held from its making until the process ends, or the `with` block."""

    def __init__(self, home: Path) -> None:
        self._file = os.fdopen(os.open(home / "server.lock", os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with self._file:
                raise Taken(_who(home, self._said().get("pid"))) from None
        said = self._said()
        self.last_port: int | None = said.get("port")
        self.last_host: str | None = said.get("host")
        self.record(self.last_host, self.last_port)

    def record(self, host: str | None, port: int | None) -> None:
        """Write down who holds the lock, and where it listens."""
        self._file.seek(0)
        self._file.write(json.dumps({"pid": os.getpid(), "host": host, "port": port}))
        self._file.truncate()

    def __enter__(self) -> HomeLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _said(self) -> dict[str, Any]:
        self._file.seek(0)
        try:
            said = json.loads(self._file.read(1000))
        except ValueError:
            return {}  # made a moment ago, or cut short by a crash
        kinds = {"pid": int, "host": str, "port": int}
        return {name: said[name] for name, kind in kinds.items() if isinstance(said.get(name), kind)}


def _who(home: Path, pid: int | None) -> str:
    running = homes.read_server(home)
    if running is not None and running.pid == pid:
        where = f"process {pid}, at {running.url}"
        return f"A server runs for {home} already: {where}. Use it, or stop it with `runyard down`."
    return f"A server is starting for {home} already: process {pid or 'unknown'}. Wait for it, or end that process."
