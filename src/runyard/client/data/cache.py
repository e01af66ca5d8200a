"""What this machine has fetched of datasets, by address and etag: fetched once, used by many, removed when it is old.

data-cache/
    ab/<key>           a file, whole, read-only; its time of change is that of the source
    ab/<key>.json      what it is (`Entry`); its time of change is that of the last use
    ab/<key>.part      a file that is being fetched: held with flock by whoever fetches it, and the next one goes on
    ab/<key>.p/        ranges of a file that mounts have read
    trees/             folders of links to files of large datasets (`runyard.client.data.trees`)
    leases/<name>      held by somebody who uses files of the cache, for as long as they do: the keys, a line each
    collect.lock       held together by those who enter keys in a lease, and alone by whoever removes files

Locks go with the process that held them, so that a process which is killed leaves nothing that stays in use. Keys are
entered in a lease before the files are looked for: what is found afterwards is not removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Iterable, Iterator, Mapping

from runyard.client.data import trees
from runyard.client.data.parts import pieces_of
from runyard.system import locks
from runyard.system.json_files import BadFile, made_of, read_object

FOLDER = "data-cache"
"""Its name in the home folder."""

LOOK_EVERY = 0.05
COLLECT_WITHIN = 10.0

_ENTRY, _PART, _PIECES = ".json", ".part", ".p"


@dataclass(frozen=True)
class Entry:
    """One file of the cache."""

    address: str
    size: int | None = None  # of the whole file
    etag: str | None = None
    modified: str | None = None
    fetched_at: float = 0.0  # seconds since 1970
    key: str = ""
    stored: int = 0  # bytes on this disk
    whole: bool = True  # and not some ranges of it
    used_at: float = 0.0  # seconds since 1970
    used: bool = False  # by a run or a notebook, now

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def address_of(each: Mapping[str, Any]) -> str:
    """What a file is known by, whatever signature its address has today."""
    url = each.get("url")
    if each.get("address"):
        return str(each["address"])
    if url:
        return str(url).partition("?")[0] if each.get("content") else str(url)  # what the server signs, it also gives
    return f"file:{each['local']}" if each.get("local") else f"{each['source']}{each['path']}"


def key_of(each: Mapping[str, Any]) -> str | None:
    """The key of a listed file; None when nothing tells it from a changed one."""
    mark = each.get("etag") or (f"{each['modified']} {each['size']}" if each.get("modified") else None)
    if mark is None:
        return None
    text = f"{address_of(each)}\n{mark}\n{each['size']}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]


class Lease:
    """Keys that are in use until `release`, or the death of the process."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        folder = cache.folder / "leases"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        held = None
        while held is None:
            held = locks.alone(folder / f"{os.getpid()}-{os.urandom(6).hex()}")
        self._held = held

    def add(self, keys: Iterable[str]) -> None:
        """Protect these from removal. Take them in before looking for the files."""
        text = "".join(f"{key}\n" for key in keys)
        with locks.together(self.cache.folder / "collect.lock"), open(self._held.path, "a", encoding="ascii") as file:
            file.write(text)

    def release(self) -> None:
        self._held.remove()

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class Cache:
    """The folder. Any number of processes and threads may work on it at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def lease(self) -> Lease:
        return Lease(self)

    def path(self, key: str) -> Path:
        return self.folder / key[:2] / key

    def find(self, key: str, size: int | None) -> str | None:
        """The path of a file that is here, whole; it counts as used now."""
        path = f"{self.folder}/{key[:2]}/{key}"
        try:
            status = os.stat(path)
        except OSError:
            return None
        if size is not None and status.st_size != size:
            return None  # a power cut, or somebody, has cut it: it is fetched again
        self.touch(key)
        return path

    def is_whole(self, key: str, size: int) -> bool:
        """Whether the file of a key is here. It does not count as used."""
        try:
            return os.stat(f"{self.folder}/{key[:2]}/{key}").st_size == size
        except OSError:
            return False

    def touch(self, key: str) -> None:
        try:
            os.utime(f"{self.folder}/{key[:2]}/{key}{_ENTRY}")
        except OSError:
            return  # a folder that cannot be written to is as good for reading

    def obtain(
        self,
        key: str,
        each: Mapping[str, Any],
        fetch: Callable[[Path, Path], None],
        halt: Callable[[], None],
        waits: Callable[[], None] = lambda: None,
    ) -> tuple[str, bool]:
        """The path of a file, and whether it was fetched now, by `fetch(part, pieces)`. Whoever comes while another
        fetches it waits. The key must be in a lease."""
        size = each["size"]
        path = self.path(key)
        part = path.with_name(key + _PART)
        waited = False
        while True:
            found = self.find(key, size)
            if found is not None:
                return found, False
            halt()
            os.makedirs(path.parent, mode=0o700, exist_ok=True)
            held = locks.alone(part, keep=True)
            if held is not None:
                break
            if not waited:
                waits()
                waited = True
            time.sleep(LOOK_EVERY)
        with held:
            found = self.find(key, size)
            if found is not None:  # it was finished between the look and the lock
                held.remove()
                return found, False
            try:
                fetch(part, path.with_name(key + _PIECES))
            except BaseException:
                if part.exists() and not part.stat().st_size:
                    part.unlink()
                raise
            self._finish(key, each, part)
        return str(path), True

    def note(self, key: str, each: Mapping[str, Any]) -> None:
        """Write down what a key is, unless that is known."""
        path = self.path(key).with_name(key + _ENTRY)
        if path.exists():
            return
        os.makedirs(path.parent, mode=0o700, exist_ok=True)
        entry = {name: each.get(name) for name in ("size", "etag", "modified")}
        aside = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
        aside.write_text(json.dumps({**entry, "address": address_of(each), "fetched_at": time.time()}), "utf-8")
        os.replace(aside, path)

    def pieces(self, key: str) -> Path:
        """The folder of the ranges of a file that mounts have read."""
        return self.path(key).with_name(key + _PIECES)

    def _finish(self, key: str, each: Mapping[str, Any], part: Path) -> None:
        self.note(key, each)
        os.chmod(part, 0o444)
        at = _moment(each.get("modified"))
        if at is not None:
            os.utime(part, (at, at))
        os.rename(part, self.path(key))
        pieces = self.pieces(key)
        if pieces.exists():
            shutil.rmtree(pieces, ignore_errors=True)

    def tree_of(self, folder: str, name: str) -> trees.Making:
        """A tree of links to a folder of this disk, to be made; out of the last one of it, if nobody uses that any
        more. The name must be in a lease."""
        lock = locks.alone(self.folder / "collect.lock")
        if lock is None:
            return trees.Making(self.folder, name)
        with lock:
            used = self._leased(remove_dead=False)
            return trees.Making(self.folder, name, trees.former(self.folder, folder, used))

    # -- what is there, and removing it -------------------------------------------------------------------------------

    def entries(self) -> list[Entry]:
        """All of them, those that were used last first."""
        used = self._leased(remove_dead=False)
        found = [self._entry(key, path, used) for key, path in self._keys()]
        return sorted((each for each in found if each is not None), key=lambda each: -each.used_at)

    def collect(self, limit: int | None = None, unused_for: float | None = None) -> list[Entry]:
        """Remove files until they need no more than `limit` bytes, and those that were not used for so many seconds;
        return what went. What was not fetched to its end goes in any case, when nobody is at it. What is in use stays,
        even if it is too large."""
        if not self.folder.is_dir():
            return []
        lock = self._alone()
        if lock is None:
            return []
        with lock:
            used = self._leased(remove_dead=True)
            self._remove_halves(used)
            entries = [each for each in (self._entry(key, path, used) for key, path in self._keys()) if each]
            through = trees.uses(self.folder)
            entries.sort(key=lambda each: max(each.used_at, through.get(each.key, 0.0)))
            total = sum(entry.stored for entry in entries)
            latest = None if unused_for is None else time.time() - unused_for
            removed = []
            for entry in entries:
                too_old = latest is not None and max(entry.used_at, through.get(entry.key, 0.0)) <= latest
                if entry.used or not (too_old or (limit is not None and total > limit)):
                    continue
                self._remove(entry.key)
                total -= entry.stored
                removed.append(entry)
            trees.sweep(self.folder, used, {entry.key for entry in removed}, unused_for)
        return removed

    def make_room(self, wanted: int) -> bool:
        """Whether the disk has room for so many bytes, if need be after removing what nobody uses."""
        free = self.free()
        if free < wanted:
            self.collect(max(0, sum(each.stored for each in self.entries()) - (wanted - free)))
            free = self.free()
        return free >= wanted

    def free(self) -> int:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return shutil.disk_usage(self.folder).free

    def _alone(self) -> locks.Held | None:
        deadline = time.monotonic() + COLLECT_WITHIN
        while True:
            lock = locks.alone(self.folder / "collect.lock")
            if lock is not None or time.monotonic() > deadline:
                return lock
            time.sleep(0.01)

    def _leased(self, remove_dead: bool) -> set[str]:
        found: set[str] = set()
        folder = self.folder / "leases"
        for name in _names(folder):
            path = folder / name
            if locks.is_held(path):
                try:
                    found.update(path.read_text("ascii").split())
                except OSError:
                    continue  # released meanwhile
            elif remove_dead:
                held = locks.alone(path)
                if held is not None:
                    held.remove()
        found.update(list(trees.leased(self.folder, found)))
        return found

    def _keys(self) -> Iterator[tuple[str, str]]:
        for shard in _names(self.folder):
            if len(shard) == 2:
                folder = f"{self.folder}/{shard}"
                for name in _names(Path(folder)):
                    if name.endswith(_ENTRY) and not name.startswith("."):
                        yield name[: -len(_ENTRY)], f"{folder}/{name}"

    def _entry(self, key: str, path: str, used: set[str]) -> Entry | None:
        try:
            document = read_object(Path(path))
            at = os.stat(path).st_mtime
            whole, stored = True, 0
            try:
                stored = os.stat(path[: -len(_ENTRY)]).st_size
            except FileNotFoundError:
                whole, stored = False, sum(each.stat().st_size for each in os.scandir(self.pieces(key)))
            known = {"key": key, "stored": stored, "whole": whole, "used_at": at, "used": key in used}
            return made_of(Entry, {**document, **known}, Path(path))
        except (OSError, BadFile):
            return None

    def _remove_halves(self, used: set[str]) -> None:
        """What was begun and is nobody's: parts, entries without a file, notes that were not written to their end."""
        for shard in _names(self.folder):
            folder = self.folder / shard
            for name in _names(folder) if len(shard) == 2 else ():
                key = name.lstrip(".").partition(".")[0]
                if key in used:
                    continue
                if name.startswith(".") or name.endswith(pieces_of(Path(_PART)).name):
                    (folder / name).unlink(missing_ok=True)
                elif name.endswith(_PART):
                    held = locks.alone(folder / name, keep=True)
                    if held is not None:
                        held.remove()
                elif name.endswith(_ENTRY) and not (folder / key).exists() and not self.pieces(key).exists():
                    (folder / name).unlink(missing_ok=True)

    def _remove(self, key: str) -> None:
        self.path(key).unlink(missing_ok=True)
        shutil.rmtree(self.pieces(key), ignore_errors=True)
        self.path(key).with_name(key + _ENTRY).unlink(missing_ok=True)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _moment(text: object) -> float | None:
    """
    >>> _moment("1970-01-01T00:01:00.000000Z")
    60.0
    """
    try:
        return datetime.strptime(f"{text}+0000", "%Y-%m-%dT%H:%M:%S.%fZ%z").timestamp() if text else None
    except ValueError:
        return None
