"""Files on their way into a datastore through the server: written aside until they are whole, and taken up again where
a connection broke."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from runyard.server.middleware.problems import Problem
from runyard.store.errors import disk_full

KEPT = 3 * 24 * 3600
"""Seconds after which what was broken off is removed."""


class Staged:
    """One file that comes in. `upload` is what its sender calls it, so that it can go on later."""

    def __init__(self, home: Path, workspace: str, datastore: str, path: str, upload: str) -> None:
        self._folder = home / "datastores" / ".uploads"
        key = "\0".join((workspace, datastore, path, upload))
        self.path = self._folder / hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    async def receive(self, pieces: AsyncIterator[bytes], offset: int) -> int:
        """Append what comes, from `offset` on; returns the size then. What has come stays when the rest does not."""
        descriptor = await run_in_threadpool(self._open, offset)
        try:
            size = offset
            async for piece in pieces:
                await run_in_threadpool(self._write, descriptor, piece)
                size += len(piece)
            return size
        finally:
            os.close(descriptor)

    def _open(self, offset: int) -> int:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._clear()
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            size = os.fstat(descriptor).st_size
            if offset > size:
                title = f"There are {size:,} bytes of this upload, and these begin at {offset:,}."
                raise Problem("offset_gap", title, "Send those in between first.", {"size": size})
            os.ftruncate(descriptor, offset)
            os.lseek(descriptor, offset, os.SEEK_SET)
        except BlockingIOError:
            os.close(descriptor)
            raise Problem(
                "upload_active", "Somebody else is sending this file now.", "Wait until that has ended."
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _write(self, descriptor: int, piece: bytes) -> None:
        try:
            view = memoryview(piece)
            while view:
                view = view[os.write(descriptor, view) :]
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                self.path.unlink(missing_ok=True)
                raise disk_full(self._folder) from error
            raise

    def _clear(self) -> None:
        """Remove what nobody has come back for."""
        old = time.time() - KEPT
        for each in self._folder.iterdir():
            if each.stat().st_mtime < old:
                each.unlink(missing_ok=True)
