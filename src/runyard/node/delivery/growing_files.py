"""Following files that grow, and delivering what they gain: the standard streams and the folders of logs.

What is sent is bytes, never text, so a character that is only half written does no harm.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from pathlib import Path
from typing import BinaryIO, Iterator

from runyard.contracts.delivery import LogPart
from runyard.node.delivery.batch import Batch
from runyard.node.delivery.reporter import Answer
from runyard.node.delivery.retrying_client import Refused, wire_name
from runyard.system.folders import walk

CHUNK = 1_000_000  # bytes of one file in one delivery; then the other files have their turn
TAIL = 256


class GrowingFile:
    """One file that is delivered into the history of the run, under `name`.

    A file that got shorter, was replaced, or whose last delivered bytes changed, is delivered anew from its beginning.
    With `resume`, the size on the server is looked up first: a former node runner has delivered some of it.
    """

    def __init__(self, path: Path, name: str, resume: bool = False) -> None:
        self._name = wire_name(name)
        self._path = str(path)
        self._resume = resume
        self._seen: tuple[int, int, int] | None = None  # inode, size, time of change; when all of that was delivered
        self._inode: int | None = None
        self._position = 0
        self._sent = hashlib.sha256()  # of everything before the position
        self._tail = b""
        self._restart = False
        self._compared = False
        self.warnings: list[str] = []

    def gather(self, batch: Batch) -> None:
        """Add what is new. The file need not be there. After a refusal it is left alone."""
        if self.warnings:
            return
        try:
            if self._seen == _look(os.stat(self._path)):
                return
            file = open_regular(self._path)
        except OSError:
            return  # not there yet, not there any more, or not to be read
        with file:
            self._gather_from(file.fileno(), batch)

    def gather_rest(self, batch: Batch) -> None:
        """The same for a file that nobody writes to any more: what was delivered before must be what is there now."""
        if not self._compared and self._position and not self._resume:
            try:
                with open_regular(self._path) as file:
                    same = _hash_of(file.fileno(), self._position).digest() == self._sent.digest()
            except OSError:
                return
            self._compared = True
            if not same:
                self._begin_anew()
        self.gather(batch)

    def _gather_from(self, descriptor: int, batch: Batch) -> None:
        status = os.fstat(descriptor)
        if self._resume:
            self._ask_size(status.st_size, batch)
            return
        if self._inode not in (None, status.st_ino) or status.st_size < self._position or self._changed(descriptor):
            self._begin_anew()
        self._inode = status.st_ino
        room = batch.room(min(CHUNK, max(1, status.st_size - self._position)))
        if not room:
            batch.more = True
            return
        chunk = os.pread(descriptor, room, self._position)
        end = self._position + len(chunk)
        if not chunk and not self._restart:
            self._seen = _look(status)
            return
        batch.more |= end < status.st_size

        def answered(answer: Answer) -> None:
            self._take(answer, chunk)
            if self._position == end == status.st_size and not self._restart:
                self._seen = _look(status)

        batch.add(LogPart(self._name, self._position, chunk, self._restart), answered)

    def _take(self, answer: Answer, chunk: bytes) -> None:
        if not isinstance(answer, Refused):
            self._restart = False
            self._position += len(chunk)
            self._sent.update(chunk)
            self._tail = (self._tail + chunk)[-TAIL:]
        elif answer.code == "offset_gap":
            self._go_to(int(answer.detail["size"]))
        else:
            self._warn(answer)

    def _ask_size(self, size: int, batch: Batch) -> None:
        """No bytes, at the end of the file: the answer is the size on the server, with or without a gap."""
        batch.more = True
        if not batch.room(1):
            return

        def answered(answer: Answer) -> None:
            if isinstance(answer, Refused) and answer.code != "offset_gap":
                self._warn(answer)
                return
            there = int(answer.detail["size"]) if isinstance(answer, Refused) else answer
            self._resume = False
            if there > size:
                self._begin_anew()
            else:
                self._go_to(there)

        batch.add(LogPart(self._name, size, b""), answered)

    def _warn(self, refusal: Refused) -> None:
        self.warnings.append(f"{self._name} was refused by the server: {refusal}")

    def _go_to(self, position: int) -> None:
        self._seen = None
        try:
            with open_regular(self._path) as file:
                self._sent = _hash_of(file.fileno(), position)
                start = max(0, position - TAIL)
                self._tail = os.pread(file.fileno(), position - start, start)
        except OSError:
            return  # it was removed; should it come back, it is compared with what was delivered of it
        self._position = position

    def _changed(self, descriptor: int) -> bool:
        start = self._position - len(self._tail)
        return os.pread(descriptor, len(self._tail), start) != self._tail

    def _begin_anew(self) -> None:
        self._seen, self._position, self._sent, self._tail, self._restart = None, 0, hashlib.sha256(), b"", True


class LogFolder:
    """A folder whose files are followed, those in its subfolders included; each is named below `name`."""

    def __init__(self, folder: Path, name: str, resume: bool = False) -> None:
        self._folder, self._name, self._resume = folder, name, resume
        self._files: dict[str, GrowingFile] = {}
        self._next_walk = 0.0

    def gather(self, batch: Batch) -> None:
        """Look for new files now and then (a large tree less often), and add what the known ones gained."""
        began = time.monotonic()
        if began >= self._next_walk:
            self._walk()
            spent = time.monotonic() - began
            self._next_walk = began + max(0.1, 20 * spent)
        for file in self._files.values():
            file.gather(batch)

    def gather_rest(self, batch: Batch) -> None:
        self._walk()
        for file in self._files.values():
            file.gather_rest(batch)

    @property
    def warnings(self) -> list[str]:
        return [warning for file in self._files.values() for warning in file.warnings]

    def _walk(self) -> None:
        for relative in regular_files(self._folder):
            if relative not in self._files:
                path, name = self._folder / relative, f"{self._name}/{relative}"
                self._files[relative] = GrowingFile(path, name, self._resume)


def regular_files(folder: Path) -> Iterator[str]:
    """The files below a folder, as relative paths. A link to a file counts; one to a folder is not followed."""
    for above, _, files in walk(str(folder)):
        for name in files:
            path = os.path.join(above, name)
            try:
                if stat.S_ISREG(os.stat(path).st_mode):
                    yield os.path.relpath(path, folder)
            except OSError:
                continue  # removed since, or a link to nowhere


def open_regular(path: str | Path) -> BinaryIO:
    """Open a file to be read; OSError when it is none: a pipe in its place would block forever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def _look(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


def _hash_of(descriptor: int, length: int) -> hashlib._Hash:
    """Of the first `length` bytes of a file."""
    seen = hashlib.sha256()
    position = 0
    while position < length:
        chunk = os.pread(descriptor, min(CHUNK, length - position), position)
        if not chunk:
            break
        seen.update(chunk)
        position += len(chunk)
    return seen
