"""Uploading the files of an outputs folder: each once it has settled, and all of them, as they are, at the end."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Iterator, NamedTuple

from runyard.contracts import names, pack
from runyard.node.delivery.growing_files import open_regular, regular_files
from runyard.node.delivery.retrying_client import Refused, RetryingClient, wire_name
from runyard.system.folders import walk

SETTLED_AFTER = 2.0
NAMES_PER_REQUEST = 200
TRIES = 3


class _Look(NamedTuple):
    inode: int
    size: int
    changed: int


class FileChanged(Exception):
    """A file was written to while it was being sent."""


class Outputs:
    """The files below `folder`, uploaded into the run's history under `name`/…"""

    def __init__(self, client: RetryingClient, folder: Path, name: str) -> None:
        self.warnings: list[str] = []
        self._client, self._folder, self._name = client, folder, name
        self._looks: dict[str, tuple[_Look, float]] = {}  # when a file was first seen as it is now
        self._uploaded: dict[str, _Look] = {}
        self._refused: set[str] = set()

    def empty(self) -> bool:
        """Whether nothing is there that could be uploaded."""
        try:
            with os.scandir(self._folder) as entries:
                return next(entries, None) is None
        except OSError:
            return True

    def upload_settled(self) -> None:
        """Upload the files that have not changed for `SETTLED_AFTER` seconds, if they are not uploaded yet."""
        now = time.monotonic()
        settled = []
        for relative in regular_files(self._folder):
            look = self._look(relative)
            if look is None or self._uploaded.get(relative) == look:
                continue
            former = self._looks.get(relative)
            if former is None or former[0] != look:
                self._looks[relative] = (look, now)
            elif now - former[1] >= SETTLED_AFTER:
                settled.append(relative)
        self._upload(settled)

    def upload_all(self) -> None:
        """Upload every file as it is now. No process of the run writes to them any more."""
        for _ in range(TRIES):
            self._upload(self._not_uploaded())
        for relative in self._not_uploaded():
            if relative not in self._refused:
                self._leave(relative, "was not kept: it changed whenever it was sent.")
        for relative in self._folders_behind_links():
            self.warnings.append(f"{self._name}/{relative} is a link to a folder: what lies there was not kept.")

    def _not_uploaded(self) -> list[str]:
        return [each for each in regular_files(self._folder) if self._uploaded.get(each) != self._look(each)]

    def _upload(self, relatives: list[str]) -> None:
        wanted = [each for each in relatives if each not in self._refused]
        for start in range(0, len(wanted), NAMES_PER_REQUEST):
            self._upload_some(wanted[start : start + NAMES_PER_REQUEST])

    def _upload_some(self, relatives: list[str]) -> None:
        """Send the hashes first: what the server has already need not travel."""
        seen: dict[str, tuple[str, _Look, str]] = {}
        for relative in relatives:
            try:
                name = names.check_file(wire_name(f"{self._name}/{relative}"))
            except names.BadName as error:
                self._leave(relative, f"was not kept: {error}")
                continue
            look = self._look(relative)
            digest = self._digest(relative)
            if look is not None and digest is not None:
                seen[name] = (relative, look, digest)
        if not seen:
            return
        try:
            missing = self._client.link({name: digest for name, (_, _, digest) in seen.items()})
        except Refused:
            missing = set(seen)  # one bad name refuses them all: one by one it shows which
        for name, (relative, look, digest) in seen.items():
            if name not in missing or self._put(relative, name, look, digest):
                self._uploaded[relative] = look
                self._looks.pop(relative, None)

    def _put(self, relative: str, name: str, look: _Look, digest: str) -> bool:
        path = self._folder / relative
        try:
            self._client.put(name, lambda: _pieces(path, look.size), look.size, digest)
        except FileChanged:
            return False  # it is looked at again once it has settled
        except Refused as refusal:
            if refusal.code == "content_mismatch":
                return False
            self._leave(relative, f"was refused by the server: {refusal}")
        else:
            return True
        return False

    def _leave(self, relative: str, why: str) -> None:
        self._refused.add(relative)
        self.warnings.append(f"{self._name}/{relative} {why}")

    def _look(self, relative: str) -> _Look | None:
        try:
            status = os.stat(self._folder / relative)
        except OSError:
            return None
        return _Look(status.st_ino, status.st_size, status.st_mtime_ns)

    def _digest(self, relative: str) -> str | None:
        try:
            with open_regular(self._folder / relative) as file:
                return pack.digest_of(file)[0]
        except FileNotFoundError:
            return None
        except OSError as error:
            self._leave(relative, f"cannot be read: {error}")
            return None

    def _folders_behind_links(self) -> Iterator[str]:
        for above, folders, _ in walk(str(self._folder)):
            for name in folders:
                path = os.path.join(above, name)
                if os.path.islink(path) and not _inside(os.path.realpath(path), os.path.realpath(self._folder)):
                    yield os.path.relpath(path, self._folder)


def _pieces(path: Path, size: int) -> Iterator[bytes]:
    """Exactly `size` bytes of a file: that many were announced."""
    left = size
    try:
        file = open_regular(path)
    except OSError as error:
        raise FileChanged(str(error)) from error
    with file:
        while left:
            chunk = file.read(min(pack.CHUNK, left))
            if not chunk:
                raise FileChanged(f"{path} got shorter")
            left -= len(chunk)
            yield chunk


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)
