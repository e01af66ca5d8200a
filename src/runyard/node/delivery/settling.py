"""A folder whose files are delivered: each once it has settled, and all of them, as they are, at the end.

Where they go is up to those who derive from this: the run's history (`outputs`), or a datastore (`data_outputs`).
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Iterator, NamedTuple

from runyard.contracts import pack
from runyard.node.delivery.growing_files import open_regular, regular_files
from runyard.system.folders import walk

SETTLED_AFTER = 2.0
TRIES = 3


class Look(NamedTuple):
    """By what a change of a file is seen."""

    inode: int
    size: int
    changed: int


class FileChanged(Exception):
    """A file was written to while it was being sent."""


class SettlingFolder:
    """The files below `folder`; `name` is what it is called in warnings."""

    def __init__(self, folder: Path, name: str) -> None:
        self.warnings: list[str] = []
        self._folder, self._name = folder, name
        self._looks: dict[str, tuple[Look, float]] = {}  # when a file was first seen as it is now
        self._delivered: dict[str, Look] = {}
        self._refused: set[str] = set()

    def empty(self) -> bool:
        """Whether nothing is there that could be delivered."""
        try:
            with os.scandir(self._folder) as entries:
                return next(entries, None) is None
        except OSError:
            return True

    def upload_settled(self) -> None:
        """Deliver the files that have not changed for `SETTLED_AFTER` seconds, if they are not delivered yet."""
        now = time.monotonic()
        settled = []
        for relative in regular_files(self._folder):
            look = self._look(relative)
            if look is None or self._delivered.get(relative) == look:
                continue
            former = self._looks.get(relative)
            if former is None or former[0] != look:
                self._looks[relative] = (look, now)
            elif now - former[1] >= SETTLED_AFTER:
                settled.append(relative)
        self._deliver(settled)

    def upload_all(self) -> None:
        """Deliver every file as it is now. No process of the run writes to them any more."""
        for _ in range(TRIES):
            self._deliver(self._not_delivered())
        for relative in self._not_delivered():
            if relative not in self._refused:
                self._leave(relative, "was not kept: it changed whenever it was sent.")
        for relative in self._folders_behind_links():
            self.warnings.append(f"{self._name}/{relative} is a link to a folder: what lies there was not kept.")

    def _send(self, relatives: list[str]) -> None:
        """Deliver these files; each is either done (`_done`), left for good (`_leave`), or tried again later."""
        raise NotImplementedError

    def _done(self, relative: str, look: Look) -> None:
        self._delivered[relative] = look
        self._looks.pop(relative, None)

    def _leave(self, relative: str, why: str) -> None:
        self._refused.add(relative)
        self.warnings.append(f"{self._name}/{relative} {why}")

    def _look(self, relative: str) -> Look | None:
        try:
            status = os.stat(self._folder / relative)
        except OSError:
            return None
        return Look(status.st_ino, status.st_size, status.st_mtime_ns)

    def _not_delivered(self) -> list[str]:
        return [each for each in regular_files(self._folder) if self._delivered.get(each) != self._look(each)]

    def _deliver(self, relatives: list[str]) -> None:
        wanted = [each for each in relatives if each not in self._refused]
        if wanted:
            self._send(wanted)

    def _folders_behind_links(self) -> Iterator[str]:
        for above, folders, _ in walk(str(self._folder)):
            for name in folders:
                path = os.path.join(above, name)
                if os.path.islink(path) and not _inside(os.path.realpath(path), os.path.realpath(self._folder)):
                    yield os.path.relpath(path, self._folder)


def pieces(path: Path, size: int) -> Iterator[bytes]:
    """Exactly `size` bytes of a file: that many were announced."""
    left = size
    try:
        file = open_regular(path)
    except OSError as error:
        raise FileChanged(str(error)) from error
    with file:
        while left:
            chunk = file.read(min(pack.CHUNK, left))
            if not chunk:
                raise FileChanged(f"{path} got shorter")
            left -= len(chunk)
            yield chunk


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)
