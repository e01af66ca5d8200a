"""The files of a datastore that is a folder of the server's machine."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from runyard.contracts.data import datastores as contract
from runyard.contracts.data.folder_names import Names, NotOnlyFiles
from runyard.server.data.places import Place, Stored, Whole
from runyard.server.middleware.problems import Problem
from runyard.store.errors import disk_full

PIECE = 1 << 20


class FolderPlace(Place):
    def __init__(self, name: str, folder: Path, make: bool = False) -> None:
        self._name = name
        self._folder = folder
        self._above = f"{folder}/"
        if make:
            folder.mkdir(parents=True, exist_ok=True)

    def files(self, below: str = "", after: str | None = None, facts: bool = True) -> Iterator[Stored]:
        if not self._folder.is_dir():
            raise self._problem("the folder is not there", self._folder)
        root = os.path.join(self._folder, below) if below else str(self._folder)
        if below and os.path.isfile(root):
            if after is None or below > after:
                yield stored(below, os.stat(root))
            return
        yield from self._walk(root, below + "/" if below else "", after, facts)

    def _walk(self, folder: str, prefix: str, after: str | None, facts: bool) -> Iterator[Stored]:
        """Sorted by the whole path, a folder where its name and a '/' belong. Links to folders are not followed."""
        try:
            with os.scandir(folder) as entries:
                inside = {
                    each.name + "/" if each.is_dir(follow_symlinks=False) else each.name: each for each in entries
                }
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise self._problem(error.strerror or str(error), Path(folder)) from None
        for name in sorted(inside):
            path = prefix + name
            if name.endswith("/"):
                if after is None or path > after or after.startswith(path):
                    yield from self._walk(os.path.join(folder, name), path, after, facts)
            elif (after is None or path > after) and not (name[0] == "." and contract.PART.fullmatch(name)):
                each = inside[name]
                if not facts and each.is_file(follow_symlinks=False):
                    yield Stored(path, None, None, None)
                    continue
                try:
                    status = each.stat()
                except OSError:
                    continue  # a link to nowhere, or gone meanwhile
                if stat.S_ISREG(status.st_mode):
                    yield stored(path, status)

    def whole(self, below: str = "") -> Whole | None:
        root = os.path.join(self._folder, below) if below else str(self._folder)
        if os.path.realpath(root) != os.path.abspath(root):
            return None  # a link may lead elsewhere tomorrow
        names = Names()
        try:
            for _ in names.walk(root):
                pass
        except (OSError, NotOnlyFiles):
            return None  # the listing tells what is wrong
        return Whole(root, names.files, names.value) if names.files else None

    def look(self, path: str) -> Stored | None:
        place = self._folder / path
        try:
            return stored(path, place.stat()) if place.is_file() else None
        except OSError:
            return None

    def read(self, path: str, start: int, end: int) -> Iterator[bytes]:
        with (self._folder / path).open("rb") as file:
            file.seek(start)
            left = end - start
            while left > 0 and (piece := file.read(min(PIECE, left))):
                left -= len(piece)
                yield piece

    def take(self, path: str, source: Path) -> None:
        place = self._folder / path
        part = place.with_name(f".{uuid.uuid4().hex}.runyard-part")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.rename(source, part)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                shutil.copyfile(source, part)
            part.chmod(0o644)
            part.replace(place)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink()
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise disk_full(self._folder) from error
            raise self._problem(error.strerror or str(error), place) from None

    def remove(self, path: str) -> None:
        try:
            (self._folder / path).unlink(missing_ok=True)
        except OSError as error:
            raise self._problem(error.strerror or str(error), self._folder / path) from None

    def local(self, path: str) -> str | None:
        return self._above + path

    def _problem(self, why: str, place: Path) -> Problem:
        return Problem(
            "datastore_unreachable",
            f"The datastore {self._name!r} cannot be used: {why} ({place}).",
            "Look at the folder on the server's machine, or register the datastore with another one.",
        )


def stored(path: str, status: os.stat_result) -> Stored:
    """What is known of a file on a disk."""
    seconds, rest = divmod(status.st_mtime_ns, 1_000_000_000)
    modified = f"{_second(seconds)}.{rest // 1000:06d}Z"
    return Stored(path, status.st_size, f'"{status.st_size:x}-{status.st_mtime_ns:x}"', modified)


@functools.lru_cache(1024)
def _second(seconds: int) -> str:
    """Files that were written together share their second."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
