"""Bringing the files of a dataset into a folder: linked, copied or fetched. Nodes and the SDK do it the same way.

The server lists the files with the ways to each (docs/protocol.md): `local`, a path on the server's disk, which may be
a disk of this machine too; `url`, an address that anybody may read; `content`, the server itself. What is fetched goes
through the cache of this machine (`runyard.client.data.cache`).
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence, Tuple

from runyard.client.data.cache import Cache, Lease, key_of
from runyard.client.data.parts import check
from runyard.client.data.problem import FULL, Changed, DiskFull, Halted
from runyard.client.data.problem import TransferProblem as TransferProblem

if TYPE_CHECKING:
    from runyard.client.data.transfer import Around, Fresh
    from runyard.client.stream import Stream

AT_ONCE = 8
BATCH = 10_000
TELL_EVERY = 1.0

_Pair = Tuple[Mapping[str, Any], Path]

LINKED, COPIED, CACHED, FETCHED = "linked", "copied", "from the cache", "fetched"

Serve = Callable[[str, Path, Callable[[], None]], None]
"""Appends what the server has at an address, from the length of the file on, to the file; the last is called often."""
Told = Callable[[int, int], None]
"""Is told how many bytes have come, and of how many."""


def bring(
    files: Iterable[Mapping[str, Any]],
    places: Iterable[Path],
    serve: Serve,
    *,
    link: bool,
    lease: Lease | None = None,
    check: Callable[[], None] = lambda: None,
    told: Told = lambda came, total: None,
    fresh: Fresh = lambda each: None,
) -> dict[str, int]:
    """Put each file at its place; returns how many came by which way.

    With `link`, what lies on a disk of this machine is linked, and so is what the cache of `lease` has or gets;
    without, every file is a copy that may be written to. Without a lease nothing is kept for others. `check` is called
    often, in this thread, and may raise to give up. Any number of files may be given: they are taken some thousands at
    a time.
    """
    return _Bringing(serve, link, lease, fresh).all(files, places, check, told)


def rest_of(part: Path) -> dict[str, str]:
    """The headers that ask the server for what a file lacks."""
    begin = part.stat().st_size if part.exists() else 0
    return {"Range": f"bytes={begin}-"} if begin else {}


def append(answer: Stream, part: Path, halt: Callable[[], None]) -> None:
    """Write what the server answered to a file: after what is there, if that was what it was asked for."""
    with open(part, "ab" if answer.status == 206 else "wb") as file:
        for piece in answer:
            halt()
            file.write(piece)


def is_here(each: Mapping[str, Any]) -> bool:
    """Whether the server's path of a file leads to the same file on this machine."""
    local = each.get("local")
    if not local:
        return False
    try:
        status = os.stat(local)
    except OSError:
        return False
    if status.st_size != each["size"] or not os.access(local, os.R_OK):
        return False
    if each.get("etag") == f'"{status.st_size:x}-{status.st_mtime_ns:x}"':
        return True
    at = datetime.fromtimestamp(status.st_mtime, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return bool(at == each["modified"])


def words(ways: Mapping[str, int]) -> str:
    """
    >>> words({"linked": 2, "copied": 0, "fetched": 1})
    '2 linked, 1 fetched'
    """
    return ", ".join(f"{count:,} {way}" for way, count in ways.items() if count) or "no files"


class _Bringing:
    """One call of `bring`."""

    def __init__(self, serve: Serve, link: bool, lease: Lease | None, fresh: Fresh) -> None:
        self._serve, self._link, self._lease = serve, link, lease
        self._cache: Cache | None = lease.cache if lease is not None else None
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._came = 0
        self._ranges = ThreadPoolExecutor(AT_ONCE)
        self._fresh = fresh
        self._around: Around | None = None  # from the first file that comes by the web
        self._ways = {LINKED: 0, COPIED: 0, CACHED: 0, FETCHED: 0}

    def all(
        self,
        files: Iterable[Mapping[str, Any]],
        places: Iterable[Path],
        check: Callable[[], None],
        told: Told,
    ) -> dict[str, int]:
        pairs = iter(zip(files, places))
        made: set[str] = set()
        with ThreadPoolExecutor(AT_ONCE) as pool, self._ranges:
            try:
                while True:
                    batch = list(islice(pairs, BATCH))
                    if not batch:
                        return self._ways
                    _make_folders(batch, made)
                    self._batch(batch, pool, check, told)
            finally:
                self._stop.set()
                if self._around is not None:
                    self._around.web.close()

    def _batch(self, batch: Sequence[_Pair], pool: ThreadPoolExecutor, check: Callable[[], None], told: Told) -> None:
        rest = []
        for each, place in batch:
            here = is_here(each)
            if not (here and self._link):
                rest.append((each, place, here, None if here else key_of(each)))
                continue
            check()
            os.symlink(str(each["local"]), place)
            self._ways[LINKED] += 1
        if not rest:
            return
        if self._lease is not None:
            self._lease.add(key for *_, key in rest if key is not None)
        wanted = [one for one in rest if not self._is_cached(one[0], one[1], one[3])]
        coming = sum(int(each["size"] or 0) for each, *_ in wanted)
        if self._cache is not None and wanted and not self._cache.make_room(coming):
            free = self._cache.free()
            raise DiskFull(self._cache.folder, f": {coming:,} bytes are to be fetched, and {free:,} are free")
        done: SimpleQueue[Future[str]] = SimpleQueue()
        waiting = [pool.submit(self._one, *one) for one in wanted]
        for future in waiting:
            future.add_done_callback(done.put)
        try:
            self._await(done, len(waiting), self._came + coming, check, told)
        finally:
            for future in waiting:
                future.cancel()

    def _await(
        self, done: SimpleQueue[Future[str]], left: int, total: int, check: Callable[[], None], told: Told
    ) -> None:
        at = time.monotonic()
        while left:
            try:
                self._ways[done.get(timeout=0.1).result()] += 1
                left -= 1
            except Empty:
                pass
            except OSError as error:
                if error.errno in FULL:
                    folder = self._cache.folder if self._cache is not None else Path(error.filename or ".")
                    raise DiskFull(folder) from error
                raise
            check()
            if time.monotonic() - at >= TELL_EVERY:
                at = time.monotonic()
                told(self._came, total)

    def _is_cached(self, each: Mapping[str, Any], place: Path, key: str | None) -> bool:
        if not self._link or self._cache is None or key is None:
            return False
        found = self._cache.find(key, each["size"])
        if found is None:
            return False
        os.symlink(found, place)
        self._ways[CACHED] += 1
        return True

    def _one(self, each: Mapping[str, Any], place: Path, here: bool, key: str | None) -> str:
        self._halt()
        if here:
            shutil.copyfile(str(each["local"]), place)
            return COPIED
        if self._cache is None or key is None:
            part = place.with_name(place.name + ".part")
            self._fetch(each, part)
            if self._link:
                part.chmod(0o444)
            part.replace(place)
            return FETCHED

        def fetched(part: Path, pieces: Path) -> None:
            self._fetch(each, part, pieces)

        found, now = self._cache.obtain(key, each, fetched, self._halt)
        if self._link:
            os.symlink(found, place)
        else:
            shutil.copyfile(found, place)
        return FETCHED if now else CACHED

    def _fetch(self, each: Mapping[str, Any], part: Path, pieces: Path | None = None) -> None:
        if each.get("url"):
            try:
                self._fetch_by_web(each, part, pieces)
                return
            except Changed:
                raise
            except TransferProblem:  # the object store may be out of this machine's reach
                if not each.get("content"):
                    raise
                part.unlink(missing_ok=True)
        if each.get("content"):
            self._serve(str(each["content"]), part, self._halt)
            check(each, part)
            self._count(part.stat().st_size)
        else:
            raise TransferProblem(f"{each['source']} is on no disk that this machine sees, and nobody gives it.")

    def _fetch_by_web(self, each: Mapping[str, Any], part: Path, pieces: Path | None) -> None:
        # Loaded only here: HTTP for any web server takes long to load, and most runs find their data on a disk.
        from runyard.client.data.transfer import Around, fetch
        from runyard.client.data.web import Web

        with self._lock:
            if self._around is None:
                self._around = Around(Web(), self._ranges, self._halt, self._count, self._fresh)
        fetch(each, part, self._around, pieces)

    def _halt(self) -> None:
        if self._stop.is_set():
            raise Halted

    def _count(self, count: int) -> None:
        with self._lock:
            self._came += count


def _make_folders(batch: Iterable[_Pair], made: set[str]) -> None:
    for _, place in batch:
        folder = os.path.dirname(place)
        if folder not in made:
            os.makedirs(folder, exist_ok=True)
            made.add(folder)
