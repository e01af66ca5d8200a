"""A snapshot's manifest: which paths a folder held, and the hash of each file's content.

The manifest's id is the SHA-256 of its text, so equal folders have equal ids wherever they were taken.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cached_property
from typing import Any, Iterable

from runyard.contracts import names, pack
from runyard.system.records import record

FILE, FOLDER, LINK = "file", "dir", "link"

SNAPSHOT_PROPERTY = "ContentSnapshotId"
"""The property of a run with the id of its snapshot."""

LONGEST_PATH = 4000  # Linux takes 4,096 bytes, and a run's working folder comes before

_line = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_PLAIN = re.compile(r"[ !#-\[\]-~]*").fullmatch
"""A name that JSON has as it is: printable ASCII without quotation marks and backslashes."""


class BadManifest(ValueError):
    """The text is not a manifest, or one of its paths leads out of the folder."""


@record(frozen=True)
class Entry:
    """One path. `digest` and `size` are a file's; `target` is a symbolic link's; a folder is listed only when empty."""

    path: str
    kind: str = FILE
    digest: str = ""
    size: int = 0
    executable: bool = False
    target: str = ""


@record(frozen=True)
class Manifest:
    entries: tuple[Entry, ...]

    @property
    def id(self) -> str:
        return hashlib.sha256(self.text).hexdigest()

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.entries)

    @cached_property
    def text(self) -> bytes:
        """What is hashed and sent: one JSON array per line, sorted by path."""
        lines = [_text(entry) for entry in self.entries]
        return ("\n".join(lines) + "\n").encode("ascii") if lines else b""


def make(entries: Iterable[Entry]) -> Manifest:
    return Manifest(tuple(sorted(entries, key=lambda e: e.path)))


def parse(text: bytes) -> Manifest:
    """Read a manifest from elsewhere, and refuse paths that lead out of the folder."""
    entries: list[Entry] = []
    try:
        for number, (row, fields) in enumerate(_rows(text), 1):
            path, kind, digest, size, executable, target = fields
            entry = Entry(names.check_file(path), kind, digest, size, bool(executable), target)
            if len(path) > LONGEST_PATH:
                raise BadManifest(f"line {number} of the manifest has a path that no disk takes: {row[:80]!r}")
            if entry.path != path or not _is_sound(entry):
                raise BadManifest(f"line {number} of the manifest is not a snapshot entry: {row[:80]!r}")
            entries.append(entry)
    except (ValueError, TypeError, RecursionError) as error:
        if isinstance(error, BadManifest):
            raise
        raise BadManifest(f"not a snapshot manifest: {error}") from error
    return make(entries)


def _rows(text: bytes) -> Iterable[tuple[bytes, Any]]:
    """The lines, and what each holds. All are read at once, which takes a fifth of the time; a line that holds more or
    less than one array shows in their number."""
    lines = text.splitlines()
    read = json.loads(b"[%s]" % b",".join(lines))
    if len(read) != len(lines):
        raise BadManifest("a line of the manifest holds more or less than one snapshot entry")
    return zip(lines, read)


def _text(entry: Entry) -> str:
    path, target = entry.path, entry.target
    if _PLAIN(path) and not target:  # as the encoder writes it, in a third of the time
        flag = 1 if entry.executable else 0
        return f'["{path}","{entry.kind}","{entry.digest}",{entry.size:d},{flag},""]'
    return _line([path, entry.kind, entry.digest, entry.size, int(entry.executable), target])


def _is_sound(entry: Entry) -> bool:
    """Whether the entry has what its kind needs, and nothing that no disk and no database could hold."""
    if type(entry.size) is not int or not isinstance(entry.target, str) or "\0" in entry.target:
        return False
    if entry.kind == FILE:
        return pack.is_digest(entry.digest) and 0 <= entry.size < 1 << 50
    return entry.kind in (FOLDER, LINK) and entry.digest == "" and entry.size == 0
