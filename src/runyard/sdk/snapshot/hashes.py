"""The hash of every file of a folder, at the cost of reading only those that have changed since the last time.

Known hashes are cached per folder in `<home>/cache/snapshots`, under a file's size, times and inode. A file that was
changed within the last seconds before it was read is hashed again next time: its times could not show another change.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Iterable, NamedTuple, cast

from runyard.contracts import manifest, pack
from runyard.sdk.snapshot.handover import Handover
from runyard.sdk.snapshot.tree import Found, Tree, unreadable
from runyard.system.json_files import BadFile, read_object

if TYPE_CHECKING:
    import tempfile

TRUST_AFTER_NS = 2_000_000_000
TRIES = 3
THREADS_FROM = 32 << 20  # bytes to read, from where several threads pay


class Known:
    """The cache of one folder. A cache that cannot be read or written is an empty one."""

    def __init__(self, cache: Path, root: Path) -> None:
        name = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:32]
        self._file = cache / f"{name}.json"
        self._marks: dict[str, Any] = {}
        self._changed = False
        with contextlib.suppress(OSError, BadFile):
            self._marks = read_object(self._file)

    def digest(self, file: Found) -> str | None:
        mark = self._marks.get(file.path)
        if not isinstance(mark, list) or mark[:4] != [file.size, file.mtime_ns, file.ctime_ns, file.inode]:
            return None
        return mark[4] if len(mark) == 5 and pack.is_digest(mark[4]) else None

    def remember(self, file: Found, digest: str, read_at_ns: int) -> None:
        if read_at_ns - max(file.mtime_ns, file.ctime_ns) > TRUST_AFTER_NS:
            self._marks[file.path] = [file.size, file.mtime_ns, file.ctime_ns, file.inode, digest]
            self._changed = True

    def forget(self, path: str) -> None:
        self._changed = self._marks.pop(path, None) is not None or self._changed

    def save(self, present: Iterable[str]) -> None:
        removed = self._marks.keys() - set(present)
        if not removed and not self._changed:
            return
        for path in removed:
            del self._marks[path]
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            aside = self._file.with_name(f".{self._file.name}.{os.getpid()}")
            aside.write_text(json.dumps(self._marks), "ascii")
            os.replace(aside, self._file)
        self._changed = False


class Content(NamedTuple):
    """Where the bytes of a hash can be read: the file itself, or a copy of one that is being changed."""

    path: str  # in the folder
    place: str
    size: int


class Hashes:
    """The hashes of a folder's files, and where to read their bytes. A context manager: it removes copies."""

    def __init__(self, root: Path, known: Known, handover: Handover | None = None) -> None:
        self.root, self.known, self._handover = root, known, handover
        self.contents: dict[str, Content] = {}
        self._copies: tempfile.TemporaryDirectory[str] | None = None  # made when it is needed
        self._copying = threading.Lock()
        self._restless: dict[str, int] = {}

    def __enter__(self) -> Hashes:
        return self

    def __exit__(self, *error: object) -> None:
        if self._copies is not None:
            self._copies.cleanup()

    def entries(self, tree: Tree) -> list[manifest.Entry]:
        """The manifest's entries for the files of the tree."""
        found: list[manifest.Entry] = []
        unknown: list[Found] = []
        top = os.path.join(self.root, "")
        for file in tree.files:
            digest = self.known.digest(file)
            if digest is None:
                unknown.append(file)
            else:
                self.contents[digest] = Content(file.path, top + file.path, file.size)
                found.append(manifest.Entry(file.path, manifest.FILE, digest, file.size, file.executable))
        if sum(file.size for file in unknown) > THREADS_FROM:
            from concurrent.futures import ThreadPoolExecutor

            # The large ones first, so that no thread has one left when the others are done.
            left = deque(sorted(unknown, key=lambda file: -file.size))
            threads = min(4, os.cpu_count() or 1)
            with ThreadPoolExecutor(threads) as pool:
                for some in pool.map(self._entries, [left] * threads):
                    found.extend(some)
        else:
            found.extend(self._entries(deque(unknown)))
        self.known.save([file.path for file in tree.files])
        return found

    def _entries(self, left: deque[Found]) -> list[manifest.Entry]:
        """Read files until none is left. Threads may share the queue: to have them hand over each file costs as much as
        a small file does."""
        found = []
        with suppress(IndexError):
            while True:
                entry = self._entry(left.popleft())
                if entry is not None:
                    found.append(entry)
        return found

    def changed(self, path: str) -> None:
        """The bytes of a file were not those of its hash when they were read again."""
        self.known.forget(path)
        self._restless[path] = self._restless.get(path, 0) + 1

    def _entry(self, file: Found) -> manifest.Entry | None:
        place = os.path.join(self.root, file.path)
        try:
            if self._restless.get(file.path, 0) >= TRIES:
                return self._copied(file, place)
            for _ in range(TRIES):
                read_at = time.time_ns()
                with open(place, "rb", buffering=0) as stream:
                    before = Found.of(file.path, os.fstat(stream.fileno()))
                    digest, size = self._read(cast(BinaryIO, stream))
                    after = Found.of(file.path, os.fstat(stream.fileno()))
                if before == after and size == after.size:
                    self.known.remember(after, digest, read_at)
                    return self._keep(after, digest, place)
            return self._copied(file, place)
        except FileNotFoundError:
            return None  # removed since the walk: it no longer belongs to the folder
        except OSError as error:
            raise unreadable(place, error) from error

    def _copied(self, file: Found, place: str) -> manifest.Entry:
        """A file that is written all the time: the content of a copy is sent."""
        import shutil
        import tempfile

        with self._copying:
            if self._copies is None:
                self._copies = tempfile.TemporaryDirectory(prefix="runyard-snapshot-")
        copy = Path(self._copies.name) / hashlib.sha256(os.fsencode(file.path)).hexdigest()
        shutil.copyfile(place, copy)
        with copy.open("rb", buffering=0) as stream:
            digest, size = self._read(cast(BinaryIO, stream))
        held = Found(file.path, size, file.mtime_ns, file.ctime_ns, file.inode, file.executable)
        return self._keep(held, digest, str(copy))

    def _read(self, stream: BinaryIO) -> tuple[str, int]:
        """The hash and the size of a file; on its way to them it is copied for the server of this machine."""
        if self._handover is not None:
            start = stream.tell()
            try:
                return self._handover.take(stream)
            except OSError:  # the disk of the server is full, for example: its own refusal says what to do
                self._handover = None
                stream.seek(start)
        return pack.digest_of(stream)

    def _keep(self, file: Found, digest: str, place: str) -> manifest.Entry:
        self.contents[digest] = Content(file.path, place, file.size)
        return manifest.Entry(file.path, manifest.FILE, digest, file.size, file.executable)
