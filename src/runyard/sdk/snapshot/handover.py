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
        with self._lock:
            self._count += 1
            aside = f"{self._folder}/{self._token}-{self._count}"
        with open(aside, "x+b", buffering=0) as copy:
            try:
                digest, size = self._filled(file, copy)
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

    def _filled(self, file: BinaryIO, copy: BinaryIO) -> tuple[str, int]:
        if self._clones and file.tell() == 0:
            import fcntl

            try:
                fcntl.ioctl(copy.fileno(), _CLONE, file.fileno())
                return pack.digest_of(copy)
            except OSError:
                self._clones = False
        seen, size = hashlib.sha256(), 0
        while True:
            chunk = file.read(pack.CHUNK)
            if not chunk:
                return seen.hexdigest(), size
            seen.update(chunk)
            left = memoryview(chunk)
            while left:
                left = left[copy.write(left) :]
            size += len(chunk)
            self.moved(len(chunk))

    def _place(self, digest: str) -> str:
        return f"{self._folder}/{self._token}.{digest}"
