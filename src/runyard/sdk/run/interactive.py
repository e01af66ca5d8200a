"""What an interactive run stores of the process that leads it: its output, its ./logs and its outputs folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, TextIO

from runyard.contracts.history import INTERACTIVE_FILE, INTERACTIVE_LOG
from runyard.sdk.notices import notice
from runyard.sdk.run.file_transfer import files_below, sendable
from runyard.sdk.telemetry.telemetry import LOGS, Telemetry


class Tee:
    """A text stream that also writes to a descriptor. Everything else is delegated to the original stream."""

    def __init__(self, stream: TextIO, descriptor: int) -> None:
        self._stream, self._descriptor = stream, descriptor

    def write(self, text: str) -> int:
        written = self._stream.write(text)
        if self._descriptor >= 0:
            try:
                os.write(self._descriptor, text.encode("utf-8", "backslashreplace"))
            except OSError as error:  # a full disk must not end what the user runs; the text has been shown
                self._descriptor = -1
                notice(f"What is printed is no longer kept in the run's log ({error.strerror}).")
        return written

    def detach_copy(self) -> None:
        """From now on the text goes to the stream alone; other holders of this object can still use it."""
        self._descriptor = -1

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Capture:
    """From `start` to `stop`, standard output and error also go to the run's logs/user_log.txt, and ./logs is stored.

    A shipper that follows the run delivers it line by line. The output of a child run, which shares its parent's
    shipper, is delivered at the end.
    """

    def __init__(self, telemetry: Telemetry, run_id: str) -> None:
        self._telemetry, self._run_id = telemetry, run_id
        self._live = telemetry.followed == run_id
        self._streams = telemetry.folder / "streams" if self._live else telemetry.folder / "spool" / f"streams-{run_id}"
        self._logs = Path("logs").absolute()
        self._descriptor = -1
        self._replaced: list[tuple[str, TextIO, Tee]] = []

    def start(self) -> None:
        self._streams.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(self._streams / INTERACTIVE_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if self._live and not (self._streams / LOGS).is_symlink():
            (self._streams / LOGS).symlink_to(self._logs)
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is not None:
                tee = Tee(stream, self._descriptor)
                self._replaced.append((name, stream, tee))
                setattr(sys, name, tee)

    def stop(self) -> None:
        for name, stream, tee in self._replaced:
            if getattr(sys, name) is tee:  # else somebody has put another one there since, which is theirs
                setattr(sys, name, stream)
            tee.detach_copy()
        self._replaced = []
        os.close(self._descriptor)
        if not self._live:
            store_files(self._telemetry, self._run_id, [(INTERACTIVE_LOG, self._streams / INTERACTIVE_FILE)])
            store_folder(self._telemetry, self._run_id, LOGS, self._logs)


def store_folder(telemetry: Telemetry, run_id: str, name: str, folder: Path) -> None:
    """Hand over every file in a folder, under `name`/."""
    store_files(telemetry, run_id, [(sendable(f"{name}/{below}"), folder / below) for below in files_below(folder)])


def store_files(telemetry: Telemetry, run_id: str, files: list[tuple[str, Path]]) -> None:
    for name, place in files:
        try:
            telemetry.store_file(run_id, name, place)
        except OSError as error:
            notice(f"{place} is not kept as {name!r} in the history of run {run_id} ({error.strerror}).")
