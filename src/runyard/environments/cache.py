"""The environments that were built on this machine: each built once, used by many, removed when nobody needs it.

environments/
    <key>/          one environment, built in place: paths are written into it, so that it cannot be moved
    <key>.json      the `Entry` of it, written whole when it is ready; what has none is never used. Its time of change
                    is that of the last use
    <key>.lock      held by whoever builds it; holds that process's id
    <key>.used      held by everybody whose run uses it, for as long as the run lives

Locks go with the process that held them. So a builder that is killed leaves a folder without an entry and without a
lock, which the next builder, or `sweep`, removes.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Callable, Iterator

from runyard.contracts.home import write_private
from runyard.environments import images
from runyard.environments.builder import Built
from runyard.system import locks
from runyard.system.json_files import BadFile, as_object, made_of
from runyard.system.locks import Held

LOOK_EVERY = 0.05

_ENTRY, _LOCK, _USED, _GONE = ".json", ".lock", ".used", ".gone"


@dataclass(frozen=True)
class Entry:
    """One environment that is ready."""

    key: str
    kind: str
    builder: str
    built: Built
    names: list[str] = field(default_factory=list)  # the requested environments that resolve to this one
    size: int = 0  # bytes, counted once; what it shares with others (hard links, layers of images) counts in full
    built_at: float = 0.0  # seconds since 1970
    seconds: float = 0.0  # that building took
    used_at: float = 0.0  # seconds since 1970
    asked: list[str] = field(default_factory=list)  # what was requested, a line each: it distinguishes equal names

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Origin:
    """How an environment was requested and built: what its entry holds beside the result."""

    kind: str
    builder: str
    name: str = ""
    asked: tuple[str, ...] = ()


class InUse(Exception):
    """The environment cannot be removed: it is being built, a run uses it, or its image is in use."""


class Cache:
    """The folder of built environments. Any number of processes and threads may work on it at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def may_have(self, key: str) -> bool:
        """Whether there is an entry at all: a look that leaves nothing behind."""
        return os.path.exists(self._path(key, _ENTRY))

    def find(self, key: str) -> Entry | None:
        """The environment, if it is ready; it counts as used now."""
        entry = self._read(key)
        if entry is None:
            return None
        try:
            os.utime(self._path(key, _ENTRY))
        except OSError as error:
            if error.errno == errno.ENOENT:
                return None  # it has just been removed
            if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
                raise
        return entry

    def build(
        self,
        key: str,
        make: Callable[[Path], Built],
        report: Callable[[str], None],
        check: Callable[[], None],
        origin: Origin,
        good: Callable[[Entry], bool] = lambda entry: True,
    ) -> Entry:
        """The environment, made by `make(folder)` unless another has made it meanwhile. Nobody else makes it at once.

        One that is there and is not `good` is removed first. When `make` raises, nothing of it stays.
        """
        self._make_folder()
        with self._lock(key, report, check) as lock:
            found = self.find(key)
            if found is not None and good(found):
                return found
            lock.write(str(os.getpid()))
            try:
                return self._build(key, make, origin)
            finally:
                lock.write("")

    def name(self, key: str, name: str) -> None:
        """Record one more name by which the environment was requested, unless somebody holds the lock."""
        lock = locks.alone(self._path(key, _LOCK))
        if lock is None:
            return
        with lock:
            entry = self._read(key)
            if entry is not None and name not in entry.names:
                self._write(replace(entry, names=[*entry.names, name]))

    def use(self, key: str) -> Held:
        """Protect the environment from removal until the returned lock is released.

        Take it before looking for the environment: what is found afterwards stays.
        """
        self._make_folder()
        return locks.together(self._path(key, _USED))

    def is_used(self, key: str) -> bool:
        return locks.is_held(self._path(key, _USED))

    def entries(self) -> list[Entry]:
        """All that are ready, those that were used last first."""
        found = [self._read(name[: -len(_ENTRY)]) for name in self._names() if name.endswith(_ENTRY)]
        return sorted((entry for entry in found if entry is not None), key=lambda each: -each.used_at)

    def remove(self, key: str, force: bool = False) -> None:
        """Remove an environment. InUse while it is being built, or while a run uses it (unless `force` is given)."""
        if not self.folder.is_dir():
            return
        with self._lock_unless_building(key) as lock:
            used = locks.alone(self._path(key, _USED))
            if used is None and not force:
                raise InUse(f"The environment {key} is used by a run.")
            entry = self._read(key)
            if entry is not None:
                _remove_image(entry.built, force)
            aside = self._take_away(key)
            if used is not None:
                used.remove()
            lock.remove()
        _delete(aside)

    def collect(self, limit: int | None = None, unused_for: float | None = None) -> list[Entry]:
        """Remove environments until they need no more than `limit` bytes, and those that were not used for so many
        seconds; return what went. The leftovers go in any case.

        Those that were not used for the longest time go first; those in use stay, even if they are too large.
        """
        self.sweep()
        removed: list[Entry] = []
        entries = self.entries()
        total = sum(entry.size for entry in entries)
        latest = None if unused_for is None else time.time() - unused_for
        for entry in reversed(entries):
            too_old = latest is not None and entry.used_at <= latest
            if not too_old and (limit is None or total <= limit):
                break
            try:
                self.remove(entry.key)
            except InUse:
                continue
            total -= entry.size
            removed.append(entry)
        return removed

    def leftovers(self) -> list[Path]:
        """What builds that were killed have left, as far as nobody is at work on it."""
        return [path for path in self._half_made() if not locks.is_held(self._path(_key(path), _LOCK))]

    def sweep(self) -> int:
        """Remove the leftovers and return how many there were. Nothing that is ready or being built is touched."""
        count = 0
        for path in list(self._half_made()):
            key = _key(path)
            lock = locks.alone(self._path(key, _LOCK))
            if lock is None:
                continue
            with lock:
                if path.suffix == _GONE:
                    _delete(path)
                elif self._read(key) is None:
                    _delete(self._take_away(key))
                else:
                    continue  # it was finished between the look and the lock
            count += 1
        for key in self._keys():
            self._remove_strays(key)
        return count

    # -- one environment, whose lock is held ------------------------------------------------------------------------

    def _lock(self, key: str, report: Callable[[str], None], check: Callable[[], None]) -> Held:
        path, reported = self._path(key, _LOCK), False
        while True:
            check()
            lock = locks.alone(path)
            if lock is not None:
                return lock
            builder = _text(path)
            if builder and not reported:
                report(f"waits for process {builder}, which builds it")
                reported = True
            time.sleep(LOOK_EVERY)

    def _lock_unless_building(self, key: str) -> Held:
        """The lock, from among those who hold it for a moment without building."""
        deadline = time.monotonic() + 2.0
        while True:
            lock = locks.alone(self._path(key, _LOCK))
            if lock is not None:
                return lock
            if _text(self._path(key, _LOCK)) or time.monotonic() > deadline:
                raise InUse(f"The environment {key} is being built.")
            time.sleep(0.01)

    def _build(self, key: str, make: Callable[[Path], Built], origin: Origin) -> Entry:
        _delete(self._take_away(key))
        folder = self.folder / key
        begun = time.monotonic()
        try:
            os.mkdir(folder, 0o700)
            built = make(folder)
            seconds, now = time.monotonic() - begun, time.time()
            names = [origin.name] if origin.name else []
            size = _size(folder) + images.size(built)
            asked = list(origin.asked)
            entry = Entry(key, origin.kind, origin.builder, built, names, size, now, seconds, now, asked)
            self._write(entry)
        except BaseException:
            _delete(self._take_away(key))
            raise
        return entry

    def _take_away(self, key: str) -> Path:
        """Make the environment one that is not there, at once; what is left to be deleted is returned."""
        self._path(key, _ENTRY).unlink(missing_ok=True)
        aside = self._path(key, f".{os.urandom(4).hex()}{_GONE}")
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.folder / key, aside)
        return aside

    def _write(self, entry: Entry) -> None:
        document = entry.as_dict()
        used_at = document.pop("used_at")
        path = self._path(entry.key, _ENTRY)
        write_private(path, json.dumps(document, indent=1))
        os.utime(path, (used_at, used_at))

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read(self, key: str) -> Entry | None:
        """The entry of an environment that is ready. An entry that cannot be read counts as none."""
        path = self._path(key, _ENTRY)
        try:
            with open(path, "rb") as file:
                document = as_object(file.read(), path)
                used_at = os.fstat(file.fileno()).st_mtime
            entry = made_of(Entry, {**document, "key": key}, path)
            os.stat(self.folder / key)
            return replace(entry, built=made_of(Built, document["built"], path), used_at=used_at)
        except (OSError, BadFile):
            return None

    def _half_made(self) -> Iterator[Path]:
        """Folders without an entry, and what was taken away and not wholly deleted."""
        for name in self._names():
            path = self.folder / name
            if path.suffix == _GONE or (not path.suffix and self._read(name) is None and path.is_dir()):
                yield path

    def _remove_strays(self, key: str) -> None:
        """The files beside a removed environment, and entries that were not written to their end."""
        lock = locks.alone(self._path(key, _LOCK))
        if lock is None:
            return
        with lock:
            for path in self.folder.glob(f".{key}{_ENTRY}.*"):
                path.unlink(missing_ok=True)
            if (self.folder / key).exists():
                return
            used = locks.alone(self._path(key, _USED))
            if used is not None:
                self._path(key, _ENTRY).unlink(missing_ok=True)
                used.remove()
                lock.remove()

    def _keys(self) -> set[str]:
        return {_key(self.folder / name) for name in self._names()}

    def _names(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self.folder) if not name.startswith("."))
        except FileNotFoundError:
            return []

    def _path(self, key: str, suffix: str) -> Path:
        return self.folder / f"{key}{suffix}"

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def _remove_image(built: Built, force: bool) -> None:
    try:
        images.remove(built)
    except images.ImageStays as problem:
        if not force:
            raise InUse(str(problem)) from problem


def _key(path: Path) -> str:
    return path.name.partition(".")[0]


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _size(folder: Path) -> int:
    total = 0
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            total += _size(Path(entry.path))
        else:
            total += entry.stat(follow_symlinks=False).st_size
    return total


def _delete(folder: Path) -> None:
    """Delete a folder as far as it goes: what cannot be deleted now, `sweep` tries again."""
    from runyard.system.folders import remove  # which finding an environment needs not

    remove(folder)
