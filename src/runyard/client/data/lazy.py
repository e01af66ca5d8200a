"""The files of a dataset, read where and when somebody reads them: range by range, ahead of who reads on, through the
cache of this machine. How they are shown as a folder is `runyard.client.data.filesystem`.
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from runyard.client.data.cache import Cache, Lease, key_of
from runyard.client.data.transfer import PIECE, Around, Fresh, fetch, piece
from runyard.client.data.web import Web
from runyard.client.data_files import is_here
from runyard.system import locks

AT_ONCE = 8
AHEAD = 6
"""Ranges that are fetched before they are asked for, once a file is read in its order."""


class LazyFile:
    """One file: on this disk, in the cache, or in ranges that come as they are read."""

    def __init__(self, each: Mapping[str, Any], key: str) -> None:
        self.each, self.key, self.size = each, key, int(each["size"])
        self.lock = threading.Lock()
        self.whole: int | None = None  # a descriptor of all of it
        self.ranges: dict[int, int] = {}  # descriptors of what has come
        self.next = 0  # the range that somebody who reads on reads next


class LazyFiles:
    """Any number of threads may read. OSError when a file cannot be read; the reason goes to `say`."""

    def __init__(
        self,
        files: Sequence[Mapping[str, Any]],
        lease: Lease,
        say: Callable[[str], None],
        fresh: Fresh = lambda each: None,
    ) -> None:
        self._cache: Cache = lease.cache
        self._lease = lease
        self._say = say
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._ranges = ThreadPoolExecutor(AT_ONCE)
        self._web = Web()
        self._around = Around(self._web, self._ranges, _go_on, lambda count: None, fresh)
        self._coming: dict[tuple[str, int], Future[None]] = {}
        self._lock = threading.Lock()
        self._without_ranges: set[str] = set()
        # What nothing tells from a changed file is good for this one time only.
        self.files = [LazyFile(each, key_of(each) or os.urandom(20).hex()) for each in files]
        lease.add(each.key for each in self.files)

    def read(self, file: LazyFile, offset: int, size: int) -> bytes:
        """Bytes of a file; fewer at its end."""
        end = min(offset + size, file.size)
        if offset >= end:
            return b""
        whole = self._whole(file)
        if whole is not None:
            return os.pread(whole, end - offset, offset)
        found: list[bytes] = []
        while offset < end:
            number = offset // PIECE
            begin = number * PIECE
            descriptor = self._range(file, number)
            if descriptor is None:  # the server has no ranges: all of it has come
                return b"".join(found) + self.read(file, offset, end - offset)
            block = os.pread(descriptor, min(end, begin + PIECE) - offset, offset - begin)
            if not block:
                raise OSError(5, "a range is shorter than it was")
            found.append(block)
            offset += len(block)
        return b"".join(found)

    def close_file(self, file: LazyFile) -> None:
        """Let go of what is open of a file; what has come of it stays in the cache."""
        with file.lock:
            descriptors = [*file.ranges.values(), *([file.whole] if file.whole is not None else [])]
            file.ranges, file.whole = {}, None
        for each in descriptors:
            os.close(each)

    def close(self) -> None:
        self._web.close()
        self._pool.shutdown(wait=False)
        self._ranges.shutdown(wait=False)

    # -- within -------------------------------------------------------------------------------------------------------

    def _whole(self, file: LazyFile) -> int | None:
        if file.whole is None and not file.ranges:
            path = str(file.each["local"]) if is_here(file.each) else self._cache.find(file.key, file.size)
            if path is not None:
                with file.lock:
                    if file.whole is None:
                        file.whole = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return file.whole

    def _range(self, file: LazyFile, number: int) -> int | None:
        """A descriptor of a range, once it is here; those behind it are on their way."""
        if file.key not in self._without_ranges:
            known = file.ranges.get(number)
            if number >= file.next:
                ahead = AHEAD if number in (0, file.next) else 0
                file.next = number + 1
                for later in range(number + 1, min(number + 1 + ahead, -(-file.size // PIECE))):
                    self._come(file, later)
            if known is not None:
                return known
            self._come(file, number).result()
        if file.key in self._without_ranges:
            self._fetch_whole(file)
            return None
        path = self._cache.pieces(file.key) / str(number)
        with file.lock:
            if number not in file.ranges:
                file.ranges[number] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            return file.ranges[number]

    def _come(self, file: LazyFile, number: int) -> Future[None]:
        """The coming of a range; it is fetched once, however many wait for it."""
        with self._lock:
            known = self._coming.get((file.key, number))
            if known is not None and not (known.done() and known.exception() is not None):
                return known
            found = self._coming[(file.key, number)] = self._pool.submit(self._fetch, file, number)
            return found

    def _fetch(self, file: LazyFile, number: int) -> None:
        begin, end = number * PIECE, min((number + 1) * PIECE, file.size)
        folder = self._cache.pieces(file.key)
        path = folder / str(number)
        part = folder / f"{number}.part"
        if _is_whole(path, end - begin):
            return
        self._cache.note(file.key, file.each)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        held = locks.alone(part)
        while held is None:  # another mount of this machine is at it
            time.sleep(0.02)
            held = locks.alone(part)
        with held:
            if _is_whole(path, end - begin) or file.key in self._without_ranges:
                held.remove()
                return
            descriptor = os.open(part, os.O_WRONLY | os.O_CLOEXEC)
            try:
                ranged = piece(file.each, begin, end, descriptor, self._around, at=0)
            except BaseException as error:
                self._say(f"{file.each['source']} cannot be read: {error}")
                held.remove()
                raise
            finally:
                os.close(descriptor)
            if ranged:
                os.rename(part, path)
            else:
                self._without_ranges.add(file.key)
                held.remove()

    def _fetch_whole(self, file: LazyFile) -> None:
        def fetched(part: Path, pieces: Path) -> None:
            fetch(file.each, part, self._around)

        self._cache.obtain(file.key, file.each, fetched, _go_on)


def _go_on() -> None:
    return


def _is_whole(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False
