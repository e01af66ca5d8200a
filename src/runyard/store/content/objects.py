"""The object store: content in a folder, each file once, under its SHA-256. What names an object is not known here.

    objects/ab/cd…        the content whose hash is abcd…
    objects/incoming/     being written
    objects/handed/       laid there by clients on this machine (`runyard.store.content.handed`)
    objects/removed/      no row names it; is moved back when it is requested (`runyard.store.content.aside`)

An object is written aside and renamed, so it is there whole or not at all, whatever process dies. It is not forced to
the disk one by one: after a power cut an object may be torn. Then its size is wrong, and `has(digest, size)` is False.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO

from runyard.contracts import pack
from runyard.store.content.aside import Aside
from runyard.store.errors import NotFound, Refused, StoreError, disk_full


@dataclass(frozen=True)
class Stored:
    digest: str
    size: int


@dataclass(frozen=True)
class Found:
    """An object, or a leftover of a writer that died (`digest` is None), as found in the folder."""

    path: Path
    digest: str | None
    size: int
    modified_at: datetime


EMPTY = hashlib.sha256().hexdigest()

FRESH_FOR = 600.0
"""Seconds for which an object that has come in waits for a row to name it."""


class Objects:
    """Safe to use from many threads and processes at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._root = str(folder)
        self._fresh: dict[str, list[float]] = {}  # when each of those who brought it in did so
        self._lock = threading.Lock()
        self.incoming, self.handed = folder / "incoming", folder / "handed"
        self.aside = Aside(folder)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.incoming.mkdir(exist_ok=True)
        self.handed.mkdir(exist_ok=True, mode=0o700)

    def path(self, digest: str) -> Path:
        return Path(self._where(digest))

    def _where(self, digest: str) -> str:
        # A plain string: a snapshot asks for thousands of objects, and a Path costs more than the look itself.
        if not pack.is_digest(digest):
            raise Refused("bad_request", f"{digest!r} is not a SHA-256.", "Send 64 hexadecimal digits in lower case.")
        return f"{self._root}/{digest[:2]}/{digest[2:]}"

    def size(self, digest: str) -> int | None:
        where = self._where(digest)
        try:
            size = os.stat(where).st_size
        except FileNotFoundError:
            self.aside.give_back(digest, where)  # unless another thread has done so already
            try:
                size = os.stat(where).st_size
            except FileNotFoundError:
                return None
        return size if size or digest == EMPTY else None  # what a power cut may leave

    def has(self, digest: str, size: int | None = None) -> bool:
        """Whether the object is there; with a size, whether it is there whole."""
        found = self.size(digest)
        return found is not None and (size is None or found == size)

    def is_sound(self, digest: str) -> bool:
        """Whether the content of the object has the hash in its name. Reads all of it."""
        try:
            with self.open(digest) as file:
                return pack.digest_of(file)[0] == digest
        except NotFound:
            return False

    def open(self, digest: str) -> BinaryIO:
        path = self.path(digest)
        with suppress(FileNotFoundError):
            return path.open("rb")
        self.aside.give_back(digest, path)
        try:
            return path.open("rb")
        except FileNotFoundError:
            raise NotFound("not_found", f"There is no object {digest}.", "Send it first.", {"hash": digest}) from None

    def writer(self) -> ObjectWriter:
        return ObjectWriter(self)

    def put(self, chunks: Iterable[bytes], digest: str | None = None) -> Stored:
        """Store the bytes; with a digest, refuse them when they have another."""
        writer = self.writer()
        try:
            for chunk in chunks:
                writer.write(chunk)
            return writer.finish(digest)
        except BaseException:
            writer.abort()
            raise

    def adopt(self, path: Path) -> Stored:
        """Move a file in. Nobody may write to it any more."""
        with path.open("rb") as file:
            stored = Stored(*pack.digest_of(file))
        try:
            self.place(path, stored)
            path.unlink(missing_ok=True)  # a rename between two names of one file does nothing
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise _meaning(error, self.folder) from error
            with path.open("rb") as file:
                stored = self.put(iter(lambda: file.read(pack.CHUNK), b""))
            path.unlink()
        return stored

    def remove(self, digest: str) -> int:
        """Remove an object; returns the bytes that came free, 0 when it was not there."""
        path = self.path(digest)
        try:
            size = path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            return 0
        return size

    def discard(self, digest: str) -> int | None:
        """Remove an object that no row names; None when it is not there, or has just come in and waits for its name."""
        with self._lock:
            return None if self._is_awaited(digest) or not self.has(digest) else self.remove(digest)

    def set_aside(self, digest: str) -> int | None:
        """Move an object that no row names aside; returns its size, None in the same cases."""
        path = self.path(digest)
        with self._lock:
            if self._is_awaited(digest):
                return None
            try:
                size = path.stat().st_size
                self.aside.take(path, digest)
            except FileNotFoundError:
                return None
            return size

    def _is_awaited(self, digest: str) -> bool:
        return any(time.monotonic() - since < FRESH_FOR for since in self._fresh.get(digest, ()))

    def let_go(self, digests: Iterable[str]) -> None:
        """Whoever brought these objects in has named them, or does not want to any more."""
        with self._lock:
            for digest in digests:
                waiting = self._fresh.pop(digest, [])
                if len(waiting) > 1:
                    self._fresh[digest] = waiting[1:]

    def walk(self) -> Iterator[Found]:
        """Every object, and what dead writers left. What comes or goes meanwhile may be seen or not."""
        for folder in sorted(self.folder.iterdir()):
            if not folder.is_dir() or (len(folder.name) != 2 and folder not in (self.incoming, self.handed)):
                continue
            for entry in os.scandir(folder):
                try:
                    status = entry.stat()
                except FileNotFoundError:
                    continue
                digest = folder.name + entry.name
                yield Found(
                    Path(entry.path),
                    digest if pack.is_digest(digest) else None,
                    status.st_size,
                    datetime.fromtimestamp(status.st_mtime, timezone.utc),
                )

    def place(self, path: str | Path, stored: Stored) -> None:
        """Move a file in whose hash and size are known, from the same file system."""
        target = self._where(stored.digest)
        with self._lock:
            self._fresh.setdefault(stored.digest, []).append(time.monotonic())
            # Also in the place of one that is there: its size may be right and its bytes may not, these are known.
            try:
                os.replace(path, target)
            except FileNotFoundError:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.replace(path, target)


class ObjectWriter:
    """One object that is being written. `finish` or `abort` ends it; both leave nothing half-made behind."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._path = objects.incoming / f"{os.getpid()}-{secrets.token_hex(8)}"
        self._hash = hashlib.sha256()
        self._size = 0
        try:
            self._file: BinaryIO = self._path.open("xb")
        except OSError as error:
            raise _meaning(error, objects.folder) from error

    def write(self, chunk: bytes) -> None:
        try:
            self._file.write(chunk)
        except OSError as error:
            self.abort()
            raise _meaning(error, self._objects.folder) from error
        self._hash.update(chunk)
        self._size += len(chunk)

    def finish(self, digest: str | None = None) -> Stored:
        stored = Stored(self._hash.hexdigest(), self._size)
        if digest is not None and digest != stored.digest:
            self.abort()
            raise Refused(
                "content_mismatch",
                f"The bytes have the hash {stored.digest}, not {digest}.",
                "They were changed on their way, or while they were read: send them again.",
                {"expected": digest, "hash": stored.digest},
            )
        try:
            self._file.close()
            self._objects.place(self._path, stored)
        except OSError as error:
            self.abort()
            raise _meaning(error, self._objects.folder) from error
        return stored

    def abort(self) -> None:
        # Closing writes out what is buffered, which a full disk refuses again; the file goes all the same.
        with suppress(OSError):
            self._file.close()
        self._path.unlink(missing_ok=True)


def _meaning(error: OSError, where: Path) -> StoreError | OSError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full(where)
    return error
