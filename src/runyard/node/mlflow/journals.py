"""What a script logs by MLflow, as journals of its runs (`runyard.contracts.journal`), and files beside them.

Everything is delivered as what the script logs by `run.log`. Threads share this.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Iterable, Mapping

from runyard.contracts import journal as contract
from runyard.node.log import log_line

LOOK_EVERY = 0.01


class _Journal:
    """The journal of one run, written by this process. What the disk does not take stays in memory, and is tried again
    with the next record."""

    def __init__(self, folder: Path, run_id: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / contract.file_name(run_id, f"{contract.MLFLOW}-{os.getpid()}-{os.urandom(4).hex()}")
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._left = b""

    def write(self, lines: bytes) -> None:
        self._left += lines
        try:
            while self._left:
                self._left = self._left[os.write(self._descriptor, self._left) :]
        except OSError as error:
            log_line(f"{self.path.name} could not be written ({error.strerror}): it is tried again")


class Journals:
    """Those of one run folder, each written by this process."""

    def __init__(self, telemetry: Path) -> None:
        self._telemetry = telemetry
        self._journals: dict[str, _Journal] = {}
        self._lock = threading.Lock()

    def write(self, run_id: str, *lines: bytes) -> None:
        """Append records; they are on the disk when this returns, or in memory until the disk takes them."""
        with self._lock:
            journal = self._journals.get(run_id)
            if journal is None:
                journal = self._journals[run_id] = _Journal(self._telemetry / "journal", run_id)
            journal.write(b"".join(lines))

    def spool(self, pieces: Iterable[bytes]) -> str:
        """Write the bytes of a file aside; returns what they are called there."""
        folder = self._telemetry / "spool"
        folder.mkdir(parents=True, exist_ok=True)
        name = f"mlflow-{os.getpid()}-{os.urandom(8).hex()}"
        try:
            with open(folder / name, "wb") as file:
                for piece in pieces:
                    file.write(piece)
        except BaseException:
            with suppress(OSError):
                (folder / name).unlink()
            raise
        return name

    def deliver(self, seconds: float) -> bool:
        """Wait until all that was written is stored by the server, for so many seconds at most; whether it is."""
        deadline = time.monotonic() + seconds
        with self._lock:
            written = [journal.path for journal in self._journals.values()]
        sizes = [(path, path.stat().st_size) for path in written if path.exists()]
        asked = False
        while True:
            sizes = [(path, size) for path, size in sizes if _confirmed(path) < size]
            if not sizes:
                return True
            if not asked:
                self._ask()
                asked = True
            if time.monotonic() >= deadline:
                return False
            time.sleep(LOOK_EVERY)

    def _ask(self) -> None:
        """Have the delivery begin at once."""
        with suppress(OSError):
            descriptor = os.open(self._telemetry / contract.WAKE, os.O_WRONLY | os.O_NONBLOCK)
            try:
                os.write(descriptor, contract.FLUSH)
            finally:
                os.close(descriptor)


def _confirmed(journal: Path) -> int:
    try:
        return int(journal.with_suffix(".ack").read_text("ascii"))
    except (OSError, ValueError):
        return 0


def value(name: str, number: float, seconds: float, step: int | None) -> bytes:
    return contract.line(contract.VALUE, name, contract.pack_value(number), seconds, step)


def tags(texts: Mapping[str, str]) -> bytes:
    return contract.line(contract.TAGS, dict(texts))


def untag(key: str) -> bytes:
    return contract.line(contract.UNTAG, [key])


def parameters(texts: Mapping[str, str]) -> bytes:
    return contract.line(contract.PARAMETERS, dict(texts))


def noted(what: str, document: Mapping[str, Any]) -> bytes:
    return contract.line(contract.NOTED, what, dict(document))


def file(name: str, spool: str) -> bytes:
    return contract.line(contract.FILE, name, spool)


def end(outcome: str, error: Mapping[str, Any] | None) -> bytes:
    return contract.line(contract.END, outcome, error)
