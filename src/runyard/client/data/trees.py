"""Folders of links to the files of large datasets, made once for all runs of a machine that see the same files.

data-cache/trees/
    <name>/files/           the links; its folders cannot be written to
    <name>/tree.json        what it holds (`Tree`); its time of change is that of the last use
    <name>/keys             the keys of the cache that it links to, each with the size of its file
    <name>/listing.jsonl.gz what a run saw, a line for each file
    .<name>.<random>/       one that is being made
    of/<dataset>            the name of the dataset's last tree, or that of a folder which is linked as a whole

Making ten thousand links takes longer than starting a run. A tree is known by the state of a listing
(`contracts.data.seen.State`), which the server works out without sending it; one that links all of a folder of this
disk, by the names of its files alone (`contracts.data.folder_names`), for what is in them is read through the links.
When names have changed, the tree that was becomes the new one, if nobody uses it: only what differs is linked. A lease
on a tree, which is a lease of the cache on the key `t-<name>`, keeps the files that it links to. Root may write into
any folder: a tree whose folders have changed is not used again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Collection, Iterable, Iterator, List, Mapping, Tuple

from runyard.client.data.problem import FULL
from runyard.contracts.data.folder_names import Names, NotOnlyFiles
from runyard.system.json_files import BadFile, made_of, read_object

FOLDER = "trees"
SMALLEST = 1_000
"""Files of a dataset from which on it gets a tree: fewer links are made in no time."""
MOST = 20
"""Trees that are kept: each has as many inodes as files."""

_AT_ONCE = 4
_TOGETHER = 500  # links that one thread makes before it takes the next ones
_Some = Tuple[str, str, List[str]]
"""The names of files, the folder that they are in, and the one for the links to them."""

_LEASED = "t-"
_LISTING = "listing.jsonl.gz"


@dataclass(frozen=True)
class Tree:
    """What a tree holds. `record` is what runs record of it (`contracts.data.seen.record`)."""

    files: int
    bytes: int
    record: dict[str, Any]
    folders: dict[str, int]  # and the time of change of each, in nanoseconds
    some: list[str] = field(default_factory=list)  # paths of a few files outside of the cache, which must be there


def name_of(dataset: str, state: str) -> str:
    """The name of the tree of a dataset, or of a whole folder, in a state."""
    return hashlib.sha256(f"{dataset}\n{state}".encode()).hexdigest()[:40]


def lease_key(name: str) -> str:
    """What protects a tree, and all that it links to, when it stands in a lease."""
    return _LEASED + name


def had_one(cache: Path, dataset: str) -> bool:
    """Whether a dataset had a tree here: then it is worth asking for its state."""
    return _pointer(cache, dataset).exists()


IsWhole = Callable[[str, int], bool]
"""Whether the file of a key is in the cache, with this size."""


def find(cache: Path, name: str, is_whole: IsWhole) -> tuple[Path, Tree] | None:
    """The folder of a tree that can be used, and what it holds. Its lease must have been taken."""
    folder = cache / FOLDER / name
    try:
        tree = _read(folder)
        if not _is_unchanged(folder, tree) or not all(os.path.exists(path) for path in tree.some):
            return None
        if not all(is_whole(key, int(size)) for key, size in _keys(folder)):
            return None
        os.utime(folder / "tree.json")
    except (OSError, BadFile):
        return None
    return folder / "files", tree


def former(cache: Path, folder: str, used: Collection[str]) -> Path | None:
    """The last tree of a folder of this disk, if it is as it was made, and is not in `used`. The caller holds the cache
    alone."""
    try:
        name = _pointer(cache, folder).read_text("ascii")
        found = cache / FOLDER / name
        return found if lease_key(name) not in used and _is_unchanged(found, _read(found)) else None
    except (OSError, BadFile):
        return None


def _read(folder: Path) -> Tree:
    return made_of(Tree, read_object(folder / "tree.json"), folder / "tree.json")


def _is_unchanged(folder: Path, tree: Tree) -> bool:
    """Whether nobody has written into the folders of a tree."""
    return all(os.stat(folder / "files" / path).st_mtime_ns == at for path, at in tree.folders.items())


def listing_of(cache: Path, name: str) -> bytes:
    return (cache / FOLDER / name / _LISTING).read_bytes()


class Making:
    """A tree that is being made, in a folder of its own: `files` is filled by others. It may begin as a former one."""

    def __init__(self, cache: Path, name: str, former: Path | None = None) -> None:
        self._cache, self._name = cache, name
        self._folder = cache / FOLDER / f".{name}.{os.urandom(4).hex()}"
        self.files = self._folder / "files"
        self._links: dict[str, set[str]] = {"": set()}  # by the folders that there are, which may have none
        self._closed: set[str] = set()  # those that cannot be written to yet
        if former is not None:
            os.rename(former, self._folder)
            self._look_around()
        else:
            os.makedirs(self.files, mode=0o700)

    def _look_around(self) -> None:
        left = [""]
        while left:
            below = left.pop()
            links = self._links[below] = set()
            with os.scandir(self.files / below) as entries:
                for each in entries:
                    if each.is_dir(follow_symlinks=False):
                        left.append(os.path.join(below, each.name))
                    else:
                        links.add(each.name)
        self._closed = set(self._links)

    def _open(self, below: str) -> str:
        """A folder that may now be written to, as one to put a name behind."""
        path = f"{self.files}/{below}" if below else str(self.files)
        if below in self._closed:
            os.chmod(path, 0o700)
            self._closed.remove(below)
        return path

    def link_all_of(self, folder: str, check: Callable[[], None]) -> Names | None:
        """Link all files of a folder of this disk; None when some of it cannot be read, or is no file."""
        found, left = Names(), dict(self._links)
        try:
            with _Linking() as linking:
                for below, names in found.walk(folder):
                    check()
                    self._make_folder(below)
                    there = left.pop(below, set())
                    if there == set(names):
                        continue
                    source, to = f"{folder}/{below}" if below else folder, self._open(below)
                    linking.add(source, to, [name for name in names if name not in there])
                    for name in there.difference(names):
                        os.unlink(f"{to}/{name}")
                        there.remove(name)
            for below in sorted(left, reverse=True):  # those within a folder come before it
                if left[below]:
                    to = self._open(below)
                    for name in left[below]:
                        os.unlink(f"{to}/{name}")
                if below:
                    self._remove_empty(below)
        except NotOnlyFiles:
            return None
        except OSError as error:
            if error.errno in FULL:
                raise
            return None
        return found

    def _make_folder(self, below: str) -> None:
        """Make a folder, and those above it. None of them is a link that was there for a file."""
        if below in self._links:
            return
        above, _, name = below.rpartition("/")
        self._make_folder(above)
        to = self._open(above)
        if name in self._links[above]:
            os.unlink(f"{to}/{name}")
            self._links[above].remove(name)
        os.mkdir(f"{to}/{name}")
        self._links[below] = set()

    def _remove_empty(self, below: str) -> None:
        """Remove a folder, unless others are in it."""
        with os.scandir(self.files / below) as entries:
            if next(entries, None) is not None:
                return
        above, _, name = below.rpartition("/")
        os.rmdir(f"{self._open(above)}/{name}")

    def finish(
        self,
        dataset: str,
        record: Mapping[str, Any],
        listing: bytes,
        keys: Iterable[tuple[str, int]],
        some: Iterable[str],
        is_whole: IsWhole,
    ) -> Path:
        """Put it where others find it, and return its folder of files: that of another node that was quicker, or its
        own."""
        folders = {}
        for folder in _folders(str(self.files)):
            status = os.stat(folder)
            if status.st_mode & 0o777 != 0o555:
                os.chmod(folder, 0o555)
            folders[os.path.relpath(folder, self.files)] = status.st_mtime_ns
        (self._folder / "keys").write_text("".join(f"{key} {size}\n" for key, size in keys), "ascii")
        (self._folder / _LISTING).write_bytes(listing)
        tree = Tree(int(record["files"]), int(record["bytes"]), dict(record), folders, list(some))
        (self._folder / "tree.json").write_text(json.dumps(asdict(tree)), "utf-8")
        place = self._cache / FOLDER / self._name
        try:
            os.rename(self._folder, place)
        except OSError:
            if find(self._cache, self._name, is_whole) is not None:  # another node was quicker
                self.give_up()
            else:  # somebody has written into the former one; who still uses it finds the same names in this one
                aside = self._folder.with_name(self._folder.name + ".old")
                os.rename(place, aside)
                os.rename(self._folder, place)
                remove(aside)
        pointer = _pointer(self._cache, dataset)
        pointer.parent.mkdir(mode=0o700, exist_ok=True)
        pointer.write_text(self._name, "ascii")
        return place / "files"

    def give_up(self) -> None:
        remove(self._folder)


class _Linking:
    """Makes links, many of them in threads: while the file system makes one, another thread looks after the next. All
    are there at the end of the block, or an OSError tells why not."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: list[_Some] = []
        self._count = 0
        self._under_way: list[Future[None]] = []

    def add(self, source: str, to: str, names: list[str]) -> None:
        """Link these files of a folder from another one, which is there."""
        self._waiting.append((source, to, names))
        self._count += len(names)
        if self._count >= _TOGETHER:
            self._pool = self._pool or ThreadPoolExecutor(_AT_ONCE)
            self._under_way.append(self._pool.submit(_link, self._waiting))
            self._waiting, self._count = [], 0

    def __enter__(self) -> _Linking:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                _link(self._waiting)
                for each in self._under_way:
                    each.result()
        finally:
            for each in self._under_way:
                each.cancel()
            if self._pool is not None:
                self._pool.shutdown()


def _link(those: Iterable[_Some]) -> None:
    for source, to, names in those:
        for name in names:
            file = f"{source}/{name}"
            if not os.access(file, os.R_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), file)
            os.symlink(file, f"{to}/{name}")


def _keys(folder: Path) -> list[tuple[str, str]]:
    """The keys of the cache that a tree links to, and their sizes."""
    try:
        words = (folder / "keys").read_text("ascii").split()
    except OSError:
        return []
    return list(zip(words[::2], words[1::2]))


def _keys_of(folder: Path) -> list[str]:
    return [key for key, _ in _keys(folder)]


def leased(cache: Path, tokens: Iterable[str]) -> Iterator[str]:
    """The keys that are in use because trees in a lease link to them."""
    for token in tokens:
        if token.startswith(_LEASED):
            yield from _keys_of(cache / FOLDER / token[len(_LEASED) :])


def uses(cache: Path) -> dict[str, float]:
    """When each key was last used through a tree."""
    found: dict[str, float] = {}
    for folder in _all(cache):
        with suppress(OSError):
            at = os.stat(folder / "tree.json").st_mtime
            for key in _keys_of(folder):
                found[key] = max(at, found.get(key, 0.0))
    return found


def sweep(cache: Path, used: set[str], removed: set[str], unused_for: float | None) -> None:
    """Remove trees that nobody uses: those that link to what was removed, that were not finished, that were not used
    for so many seconds, and all but the last ones. The caller holds the cache alone."""
    kept = []
    for folder in _all(cache):
        name = folder.name.lstrip(".").partition(".")[0]
        if lease_key(name) in used:
            continue
        try:
            at = os.stat(folder / "tree.json").st_mtime
        except OSError:
            at = 0.0
        old = unused_for is not None and at <= time.time() - unused_for
        if folder.name.startswith(".") or not at or old or not removed.isdisjoint(_keys_of(folder)):
            remove(folder)
        else:
            kept.append((at, folder))
    for _, folder in sorted(kept, reverse=True)[MOST:]:
        remove(folder)
    there = {folder.name for folder in _all(cache)}
    for pointer in _names(cache / FOLDER / "of"):
        with suppress(OSError):
            if pointer.read_text("ascii") not in there:
                pointer.unlink()


def remove(folder: Path) -> None:
    """Remove a tree; what it links to stays."""
    with suppress(OSError):
        for each in _folders(str(folder)):
            os.chmod(each, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _folders(root: str) -> Iterator[str]:
    """A folder and those in it. What links lead to is not looked at, which `os.walk` would do for each."""
    left = [root]
    while left:
        folder = left.pop()
        with os.scandir(folder) as entries:
            left += [each.path for each in entries if each.is_dir(follow_symlinks=False)]
        yield folder


def _all(cache: Path) -> list[Path]:
    return [folder for folder in _names(cache / FOLDER) if folder.name != "of"]


def _names(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def _pointer(cache: Path, dataset: str) -> Path:
    return cache / FOLDER / "of" / hashlib.sha256(dataset.encode()).hexdigest()[:40]
