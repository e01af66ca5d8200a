"""Following files that grow, and sending what they gain: the standard streams and the folders of logs.

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

from runyard.node.delivery.retrying_client import Refused, RetryingClient
from runyard.system.folders import walk

CHUNK = 1 << 20
CHUNKS_PER_LOOK = 8  # then the other files have their turn
TAIL = 256


class GrowingFile:
    """One file that is uploaded into the history of the run, under `name`.

    A file that got shorter, was replaced, or whose last sent bytes changed, is sent anew from its beginning. With
    `resume`, the size on the server is looked up first: a former node runner has sent some of it.
    """

    def __init__(self, client: RetryingClient, path: Path, name: str, resume: bool = False) -> None:
        self._name = name
        self._client = client
        self._path = path
        self._resume = resume
        self._seen: tuple[int, int, int] | None = None  # inode, size, time of change
        self._inode: int | None = None
        self._position = 0
        self._sent = hashlib.sha256()  # of everything before the position
        self._tail = b""
        self._restart = False
        self.warnings: list[str] = []

    def send_new(self) -> bool:
        """Send what is new; True when something was. The file need not be there. After a refusal it is left alone."""
        if self.warnings:
            return False
        try:
            status = os.stat(self._path)
            if self._seen == _look(status):
                return False
            file = open_regular(self._path)
        except OSError:
            return False  # not there yet, not there any more, or not to be read
        with file:
            try:
                return self._send_from(file.fileno())
            except Refused as refusal:
                self.warnings.append(f"{self._name} was refused by the server: {refusal}")
                return False

    def send_rest(self) -> None:
        """Send the rest of a file that nobody writes to any more, and make sure that what was sent is what is there."""
        while self.send_new():
            pass
        try:
            with open_regular(self._path) as file:
                same = self._hash_of(file.fileno(), None) == self._sent.digest()
        except OSError:
            return
        if not same and not self.warnings:
            self._begin_anew()
            while self.send_new():
                pass

    def _send_from(self, descriptor: int) -> bool:
        status = os.fstat(descriptor)
        if self._resume:
            self._resume_from_server(descriptor, status.st_size)
        if self._inode not in (None, status.st_ino) or status.st_size < self._position or self._changed(descriptor):
            self._begin_anew()
        self._inode = status.st_ino
        sent = False
        for _ in range(CHUNKS_PER_LOOK):
            chunk = os.pread(descriptor, CHUNK, self._position)
            if not chunk and not self._restart:
                self._seen = _look(status)
                break
            self._append(descriptor, chunk)
            sent = True
        return sent

    def _append(self, descriptor: int, chunk: bytes) -> None:
        try:
            self._client.append(self._name, self._position, chunk, self._restart)
        except Refused as refusal:
            if refusal.code != "offset_gap":
                raise
            self._go_to(descriptor, int(refusal.detail["size"]))
            return
        self._restart = False
        self._position += len(chunk)
        self._sent.update(chunk)
        self._tail = (self._tail + chunk)[-TAIL:]

    def _resume_from_server(self, descriptor: int, size: int) -> None:
        """An empty append at the end of the file: the answer is the size on the server, with or without a gap."""
        try:
            there = self._client.append(self._name, size, b"")
        except Refused as refusal:
            if refusal.code != "offset_gap":
                raise
            there = int(refusal.detail["size"])
        self._resume = False
        if there > size:
            self._begin_anew()
        else:
            self._go_to(descriptor, there)

    def _go_to(self, descriptor: int, position: int) -> None:
        self._position = position
        self._sent = hashlib.sha256()
        self._hash_of(descriptor, position, self._sent)
        start = max(0, position - TAIL)
        self._tail = os.pread(descriptor, position - start, start)

    def _changed(self, descriptor: int) -> bool:
        start = self._position - len(self._tail)
        return os.pread(descriptor, len(self._tail), start) != self._tail

    def _begin_anew(self) -> None:
        self._seen, self._position, self._sent, self._tail, self._restart = None, 0, hashlib.sha256(), b"", True

    def _hash_of(self, descriptor: int, length: int | None, seen: hashlib._Hash | None = None) -> bytes:
        seen = hashlib.sha256() if seen is None else seen
        position = 0
        while length is None or position < length:
            chunk = os.pread(descriptor, CHUNK if length is None else min(CHUNK, length - position), position)
            if not chunk:
                break
            seen.update(chunk)
            position += len(chunk)
        return seen.digest()


class LogFolder:
    """A folder whose files are followed, those in its subfolders included; each is named below `name`."""

    def __init__(self, client: RetryingClient, folder: Path, name: str, resume: bool = False) -> None:
        self._client, self._folder, self._name, self._resume = client, folder, name, resume
        self._files: dict[str, GrowingFile] = {}
        self._next_walk = 0.0

    def send_new(self) -> bool:
        """Look for new files now and then (a large tree less often), and send what the known ones gained."""
        began = time.monotonic()
        if began >= self._next_walk:
            self._walk()
            spent = time.monotonic() - began
            self._next_walk = began + max(0.1, 20 * spent)
        return sum(file.send_new() for file in self._files.values()) > 0

    def send_rest(self) -> None:
        self._walk()
        for file in self._files.values():
            file.send_rest()

    @property
    def warnings(self) -> list[str]:
        return [warning for file in self._files.values() for warning in file.warnings]

    def _walk(self) -> None:
        for relative in regular_files(self._folder):
            if relative not in self._files:
                path, name = self._folder / relative, f"{self._name}/{relative}"
                self._files[relative] = GrowingFile(self._client, path, name, self._resume)


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


def open_regular(path: Path) -> BinaryIO:
    """Open a file to be read; OSError when it is none: a pipe in its place would block forever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def _look(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns
