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
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from runyard.client.data.cache import Cache, Lease, key_of
from runyard.client.data.problem import FULL, Changed, DiskFull, Halted
from runyard.client.data.problem import TransferProblem as TransferProblem
from runyard.client.data.transfer import Around, Fresh, check, fetch
from runyard.client.data.web import Web
from runyard.contracts.data import datasets as contract

if TYPE_CHECKING:
    from runyard.client.stream import Stream

AT_ONCE = 8
TELL_EVERY = 1.0

LINKED, COPIED, CACHED, FETCHED = "linked", "copied", "from the cache", "fetched"

Get = Callable[[str, Mapping[str, Any]], Any]
"""Asks the server for JSON: an address and its parameters."""
Serve = Callable[[str, Path, Callable[[], None]], None]
"""Appends what the server has at an address, from the length of the file on, to the file; the last is called often."""
Told = Callable[[int, int], None]
"""Is told how many bytes have come, and of how many."""


@dataclass(frozen=True)
class Listing:
    """The files of a dataset, as the server lists them."""

    files: list[dict[str, Any]]
    single: bool
    several: bool

    @property
    def bytes(self) -> int:
        return sum(int(each["size"] or 0) for each in self.files)

    def mounted(self) -> list[str]:
        return contract.mounted([str(each["path"]) for each in self.files], self.several)

    def layout(self) -> list[str]:
        return [str(each["path"]) for each in self.files]


def listing(get: Get, address: str) -> Listing:
    """All files of a dataset; `address` is that of the dataset itself."""
    files: list[dict[str, Any]] = []
    answer: Any = {"next": None}
    after, single = None, False
    while True:
        answer = get(f"{address}/files", {"after": after})
        files += answer["files"]
        single = bool(answer["single"]) and after is None
        after = answer["next"]
        if after is None:
            return Listing(files, single, bool(answer["several"]))


def bring(
    files: Sequence[Mapping[str, Any]],
    places: Sequence[Path],
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
    often, in this thread, and may raise to give up.
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
        self._web = Web()
        self._around = Around(self._web, self._ranges, self._halt, self._count, fresh)
        self._ways = {LINKED: 0, COPIED: 0, CACHED: 0, FETCHED: 0}

    def all(
        self,
        files: Sequence[Mapping[str, Any]],
        places: Sequence[Path],
        check: Callable[[], None],
        told: Told,
    ) -> dict[str, int]:
        _make_folders(places)
        rest = [(each, place) for each, place in zip(files, places) if not self._lies_here(each, place, check)]
        if not rest:
            return self._ways
        keys = [key_of(each) if not is_here(each) else None for each, _ in rest]
        if self._lease is not None:
            self._lease.add(key for key in keys if key is not None)
        wanted = [(*one, key) for one, key in zip(rest, keys) if not self._is_cached(*one, key)]
        total = sum(int(each["size"] or 0) for each, _, _ in wanted)
        if self._cache is not None and wanted and not self._cache.make_room(total):
            free = self._cache.free()
            raise DiskFull(self._cache.folder, f": {total:,} bytes are to be fetched, and {free:,} are free")
        with ThreadPoolExecutor(max(1, min(AT_ONCE, len(wanted)))) as pool, self._ranges:
            waiting = {pool.submit(self._one, *each) for each in wanted}
            try:
                self._await(waiting, total, check, told)
            finally:
                self._stop.set()
                self._web.close()
                for future in waiting:
                    future.cancel()
        return self._ways

    def _await(self, waiting: set[Future[str]], total: int, check: Callable[[], None], told: Told) -> None:
        at = time.monotonic()
        while waiting:
            done, waiting = wait(waiting, 0.1, "FIRST_COMPLETED")
            for future in done:
                try:
                    self._ways[future.result()] += 1
                except OSError as error:
                    if error.errno in FULL:
                        folder = self._cache.folder if self._cache is not None else Path(error.filename or ".")
                        raise DiskFull(folder) from error
                    raise
            check()
            if time.monotonic() - at >= TELL_EVERY:
                at = time.monotonic()
                told(self._came, total)

    def _lies_here(self, each: Mapping[str, Any], place: Path, check: Callable[[], None]) -> bool:
        if not self._link or not is_here(each):
            return False
        check()
        os.symlink(str(each["local"]), place)
        self._ways[LINKED] += 1
        return True

    def _is_cached(self, each: Mapping[str, Any], place: Path, key: str | None) -> bool:
        if not self._link or self._cache is None or key is None:
            return False
        found = self._cache.find(key, each["size"])
        if found is None:
            return False
        os.symlink(found, place)
        self._ways[CACHED] += 1
        return True

    def _one(self, each: Mapping[str, Any], place: Path, key: str | None) -> str:
        self._halt()
        if is_here(each):
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
                fetch(each, part, self._around, pieces)
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

    def _halt(self) -> None:
        if self._stop.is_set():
            raise Halted

    def _count(self, count: int) -> None:
        with self._lock:
            self._came += count


def _make_folders(places: Sequence[Path]) -> None:
    made: set[Path] = set()
    for place in places:
        if place.parent not in made:
            os.makedirs(place.parent, exist_ok=True)
            made.add(place.parent)
