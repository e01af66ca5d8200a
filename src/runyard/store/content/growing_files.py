"""Files that are still being written: logs, one plain file per key. What they are called is not known here.

    growing/17            bytes arrive here
    growing/17.sealing    becomes an object; is reopened if that is interrupted
    growing/removed/17    no row names it (`runyard.store.content.aside`)

Bytes are handed to the operating system before an append returns, so they survive the death of any process.
"""

from __future__ import annotations

import errno
import os
import resource
import shutil
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO

from runyard.store.content.aside import Aside
from runyard.store.errors import Conflict, NotFound, disk_full

STRIPES = 64

_ALWAYS_FREE = 1024
"""Descriptors of which none but a few are used for growing files."""


def most_open() -> int:
    """How many descriptors of growing files stay open: those of the runs that write, where the limit allows it."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    spare = (1 << 20 if limit == resource.RLIM_INFINITY else limit) - _ALWAYS_FREE
    return STRIPES * max(1, min(256, spare // 4 // STRIPES))


@dataclass(frozen=True)
class Extent:
    """The size of a growing file, and when it last grew."""

    size: int
    updated_at: datetime


@dataclass
class _Open:
    """A file that takes bytes. Nobody else writes to it, so its size is known without asking for it."""

    descriptor: int
    size: int


class Growing:
    """Safe to use from many threads of one process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.aside = Aside(folder)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._locks = [threading.Lock() for _ in range(STRIPES)]
        self._seals = [threading.Lock() for _ in range(STRIPES)]
        # By stripe, the least recently used first: a descriptor is used and closed under the lock of its stripe.
        self._descriptors: list[OrderedDict[int, _Open]] = [OrderedDict() for _ in range(STRIPES)]
        self._most = most_open() // STRIPES

    def append(self, key: int, offset: int, data: bytes) -> int:
        """Add bytes that begin at `offset`; what is there already is skipped. Returns the new size.

        NotFound when the file was closed (sealed or removed) meanwhile: call `files.growing` again.
        """
        with self._locks[key % STRIPES]:
            opened = self._opened(key)
            size = opened.size
            if offset > size:
                raise Conflict(
                    "offset_gap",
                    f"The bytes begin at {offset}, but the file ends at {size}.",
                    f"Send the bytes from {size} on.",
                    {"size": size},
                )
            self._write(opened, data[size - offset :] if size > offset else data)
            return opened.size

    def close(self) -> None:
        """Close what is open. Whoever appends after that opens it again."""
        for stripe in range(STRIPES):
            with self._locks[stripe]:
                while self._descriptors[stripe]:
                    os.close(self._descriptors[stripe].popitem()[1].descriptor)

    def restart(self, key: int) -> None:
        """Make the file, or empty it."""
        with self._locks[key % STRIPES]:
            self._forget(key)
            self._sealing(key).unlink(missing_ok=True)
            try:
                self._open(key).write_bytes(b"")
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise disk_full(self.folder) from error
                raise

    def revive(self, key: int) -> None:
        """Make sure that the file takes bytes: bring it back from a seal that never ended, or make it."""
        with self._locks[key % STRIPES]:
            if self._open(key).exists():
                return
            # The sealed file may share its bytes with an object, which must not grow: hence a copy.
            aside = self.folder / f"{key}.reviving"
            if self._sealing(key).exists():
                shutil.copyfile(self._sealing(key), aside)
            else:
                aside.write_bytes(b"")
            os.replace(aside, self._open(key))
            self._sealing(key).unlink(missing_ok=True)

    def extent(self, key: int) -> Extent | None:
        for path in (self._open(key), self._sealing(key)):
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            return Extent(status.st_size, datetime.fromtimestamp(status.st_mtime, timezone.utc))
        return None

    def size(self, key: int) -> int:
        extent = self.extent(key)
        return extent.size if extent else 0

    def open(self, key: int) -> BinaryIO:
        with self._locks[key % STRIPES]:
            try:
                return self._open(key).open("rb")
            except FileNotFoundError:
                pass
            try:
                return self._sealing(key).open("rb")
            except FileNotFoundError:
                raise NotFound("file_not_found", f"There is no growing file {key}.") from None

    def sealing(self, key: int) -> threading.Lock:
        """To be held from `take` to `remove`, so that two do not seal the same file."""
        return self._seals[key % STRIPES]

    def take(self, key: int) -> Path:
        """Close the file to further bytes; returns a path that `Objects.adopt` may move away.

        The bytes stay here too until `remove` is called, so that nothing is lost between the two.
        """
        with self._locks[key % STRIPES]:
            self._forget(key)
            sealing = self._sealing(key)
            if self._open(key).exists():
                os.replace(self._open(key), sealing)
            if not sealing.exists():
                raise NotFound("file_not_found", f"There is no growing file {key}.")
            taken = self.folder / f"{key}.taken"
            taken.unlink(missing_ok=True)  # of a seal that a crash ended
            try:
                os.link(sealing, taken)
            except OSError as error:
                if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
                    raise
                shutil.copyfile(sealing, taken)
            return taken

    def is_taken(self, key: int) -> bool:
        """Whether the file has stayed closed since it was taken."""
        return not self._open(key).exists() and self._sealing(key).exists()

    def remove(self, key: int) -> int:
        """Remove the file; returns the bytes that came free."""
        freed = 0
        with self._locks[key % STRIPES]:
            self._forget(key)
            for path in (self._open(key), self._sealing(key), self.folder / f"{key}.taken"):
                try:
                    size = path.stat().st_size
                    path.unlink()
                except FileNotFoundError:
                    continue
                freed = max(freed, size)
        return freed

    def set_aside(self, key: int) -> int:
        """Move a file that no row names out of the way; returns its size."""
        with self._locks[key % STRIPES]:
            self._forget(key)
            for ending in ("taken", "reviving"):
                (self.folder / f"{key}.{ending}").unlink(missing_ok=True)
            names = chain([str(key)], (f"{key}.{number}" for number in count(1)))
            for path in (self._open(key), self._sealing(key)):
                try:
                    size = path.stat().st_size
                    self.aside.take(path, next(name for name in names if not (self.aside.folder / name).exists()))
                except FileNotFoundError:
                    continue
                return size
        return 0

    def bring_back(self, key: int) -> None:
        """Put a file back that was moved aside, unless there is another one of that key by now."""
        with self._locks[key % STRIPES]:
            if not self._open(key).exists() and not self._sealing(key).exists():
                self.aside.give_back(str(key), self._open(key))

    def all(self) -> list[int]:
        """The keys of every file that is there."""
        return sorted({int(stem) for path in self.folder.iterdir() if (stem := path.name.partition(".")[0]).isdigit()})

    def _open(self, key: int) -> Path:
        return self.folder / str(int(key))

    def _sealing(self, key: int) -> Path:
        return self.folder / f"{int(key)}.sealing"

    def _opened(self, key: int) -> _Open:
        """The open file. The caller holds the lock of its stripe."""
        here = self._descriptors[key % STRIPES]
        opened = here.get(key)
        if opened is not None:
            here.move_to_end(key)
            return opened
        try:
            descriptor = os.open(self._open(key), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        except FileNotFoundError:
            raise NotFound("file_not_found", f"Growing file {key} is closed.", "Send the bytes again.") from None
        here[key] = opened = _Open(descriptor, os.fstat(descriptor).st_size)
        if len(here) > self._most:
            os.close(here.popitem(last=False)[1].descriptor)
        return opened

    def _forget(self, key: int) -> None:
        """Close the file, which is about to go or to get another name. The caller holds the lock of its stripe."""
        opened = self._descriptors[key % STRIPES].pop(key, None)
        if opened is not None:
            os.close(opened.descriptor)

    def _write(self, opened: _Open, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(opened.descriptor, left) :]
        except OSError as error:
            os.ftruncate(opened.descriptor, opened.size)
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise disk_full(self.folder) from error
            raise
        opened.size += len(data)
