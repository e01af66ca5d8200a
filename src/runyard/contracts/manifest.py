"""A snapshot's manifest: which paths a folder held, and the hash of each file's content.

The manifest's id is the SHA-256 of its text, so equal folders have equal ids wherever they were taken.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Iterable, List, Tuple

from runyard.contracts import names, pack

FILE, FOLDER, LINK = "file", "dir", "link"

_line = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


class BadManifest(ValueError):
    """The text is not a manifest, or one of its paths leads out of the folder."""


@dataclass(frozen=True)
class Entry:
    """One path. `digest` and `size` are a file's; `target` is a symbolic link's; a folder is listed only when empty."""

    path: str
    kind: str = FILE
    digest: str = ""
    size: int = 0
    executable: bool = False
    target: str = ""


@dataclass(frozen=True)
class Manifest:
    entries: Tuple[Entry, ...]

    @property
    def id(self) -> str:
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.entries)

    def to_bytes(self) -> bytes:
        """The text that is hashed and sent: one JSON array per line, sorted by path."""
        lines = [_line([e.path, e.kind, e.digest, e.size, int(e.executable), e.target]) for e in self.entries]
        return ("\n".join(lines) + "\n").encode("ascii") if lines else b""


def make(entries: Iterable[Entry]) -> Manifest:
    return Manifest(tuple(sorted(entries, key=lambda e: e.path)))


def parse(text: bytes) -> Manifest:
    """Read a manifest that somebody else wrote, and refuse paths that lead out of the folder."""
    entries: List[Entry] = []
    try:
        for number, row in enumerate(text.splitlines(), 1):
            path, kind, digest, size, executable, target = json.loads(row)
            entry = Entry(names.check_file(path), kind, digest, int(size), bool(executable), str(target))
            if entry.path != path or kind not in (FILE, FOLDER, LINK) or (kind == FILE and not pack.is_digest(digest)):
                raise BadManifest(f"line {number} of the manifest is not a snapshot entry: {row[:80]!r}")
            entries.append(entry)
    except (ValueError, TypeError) as error:
        if isinstance(error, BadManifest):
            raise
        raise BadManifest(f"not a snapshot manifest: {error}") from error
    return make(entries)
