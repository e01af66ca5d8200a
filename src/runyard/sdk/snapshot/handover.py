"""Handing files to the server of this machine without sending them: copies in the folder of its object store.

Each file is read once: its bytes are hashed on their way into the copy, so what is stored under a hash has that hash,
whatever happens to the file meanwhile. Where the file system can share the bytes of two files, the copy costs no space
and the hash is that of the copy. The server then only gives the copies their places (`runyard.store.content.handed`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from pathlib import Path
from typing import BinaryIO, Callable

from runyard.contracts import pack
from runyard.sdk.workspace.service import Service

A_REQUEST = 5000
"""Objects that one request names."""

AT_ONCE = 1 << 20
"""Bytes that are read at once, into memory that is used again. A file that is shorter gets its name at once."""

_CLONE = 0x40049409
"""FICLONE of ioctl_ficlonerange(2)."""


class Handover:
    """The copies of one client, which are removed at the end unless the server has taken them. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = os.urandom(16).hex()
        self._lock = threading.Lock()
        self._count = 0
        self._sizes: dict[str, int] = {}
        self._clones = True  # until the file system has refused
        self._mine = threading.local()  # the memory of each thread
        self.moved: Callable[[int], None] = lambda count: None  # told of bytes as they are copied

    @staticmethod
    def to(service: Service) -> Handover | None:
        """None when the server is not known to be on this machine, or does not take files in this way."""
        folder = None if service.home is None else service.home / "objects" / "handed"
        return Handover(folder) if folder is not None and os.access(folder, os.W_OK | os.X_OK) else None

    def __enter__(self) -> Handover:
        return self

    def __exit__(self, *error: object) -> None:
        for digest in self._sizes:
            with contextlib.suppress(OSError):
                os.unlink(self._place(digest))

    def take(self, file: BinaryIO) -> tuple[str, int]:
        """Copy what is left in an unbuffered file; its hash and its size."""
        if not self._clones:
            memory = self._memory()
            size = _filled(file, memory)
            if size < len(memory):
                return self._take_short(memory[:size])
            return self._take_long(file, memory)
        return self._take_long(file)

    def _take_short(self, content: memoryview) -> tuple[str, int]:
        """Where all of it is in memory the hash is known before the copy is made, which so needs no other name."""
        digest = hashlib.sha256(content).hexdigest()
        place = self._place(digest)
        with contextlib.suppress(FileExistsError):  # another file with the same content
            copy = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            try:
                _write(copy, content)
            except BaseException:
                os.unlink(place)
                raise
            finally:
                os.close(copy)
        with self._lock:
            self._sizes[digest] = len(content)
        self.moved(len(content))
        return digest, len(content)

    def _take_long(self, file: BinaryIO, begun: memoryview | None = None) -> tuple[str, int]:
        """`begun` is what was read of it already."""
        with self._lock:
            self._count += 1
            aside = f"{self._folder}/{self._token}-{self._count}"
        with open(aside, "x+b", buffering=0) as copy:
            try:
                digest, size = self._copied(file, copy, begun)
                os.replace(aside, self._place(digest))
            except BaseException:
                os.unlink(aside)
                raise
        with self._lock:
            self._sizes[digest] = size
        return digest, size

    def deliver(self, service: Service) -> None:
        """Have the server take all that was copied."""
        with self._lock:
            left, self._sizes = list(self._sizes.items()), {}
        try:
            while left:
                some = dict(left[:A_REQUEST])
                service.post("/api/objects/handed", {"token": self._token, "objects": some}, idempotent=True)
                left = left[A_REQUEST:]
        finally:
            with self._lock:
                self._sizes.update(left)

    def _copied(self, file: BinaryIO, copy: BinaryIO, begun: memoryview | None) -> tuple[str, int]:
        if begun is None and self._clones and file.tell() == 0:
            import fcntl

            try:
                fcntl.ioctl(copy.fileno(), _CLONE, file.fileno())
                return pack.digest_of(copy)
            except OSError:
                self._clones = False
        memory = self._memory()
        length = _filled(file, memory) if begun is None else len(begun)
        seen, size = hashlib.sha256(), 0
        while length:
            seen.update(memory[:length])
            _write(copy.fileno(), memory[:length])
            size += length
            self.moved(length)
            length = _filled(file, memory)
        return seen.hexdigest(), size

    def _memory(self) -> memoryview:
        if not hasattr(self._mine, "memory"):
            self._mine.memory = memoryview(bytearray(AT_ONCE))
        found: memoryview = self._mine.memory
        return found

    def _place(self, digest: str) -> str:
        return f"{self._folder}/{self._token}.{digest}"


def _filled(file: BinaryIO, memory: memoryview) -> int:
    """Read until the memory is full, or to the end; how many bytes that were."""
    size = 0
    while size < len(memory):
        read = file.readinto(memory[size:])  # type: ignore[attr-defined]
        if not read:
            break
        size += int(read)
    return size


def _write(copy: int, content: memoryview) -> None:
    while content:
        content = content[os.write(copy, content) :]
