"""What differs between the source of two runs: the files of two snapshots, and the lines of those that are text."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator

from runyard.contracts.manifest import FILE, Entry, Manifest
from runyard.server.responses.documents import Json

LARGEST = 512 << 10
"""Bytes of a file whose lines are compared."""

MOST_LINES = 8000
"""Lines of one: the time that a comparison takes can grow with their square."""

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
Read = Callable[[str], bytes]
"""From the hash of a file's content to its bytes."""


def changes(before: Manifest, after: Manifest, read: Read) -> Iterator[Json]:
    """The files that are not the same in both, by path; with `diff` where both are text, else with a `note`."""
    old = {entry.path: entry for entry in before.entries}
    new = {entry.path: entry for entry in after.entries}
    for path in sorted({*old, *new}):
        first, second = old.get(path), new.get(path)
        if first == second:
            continue
        kind = CHANGED if first and second else ADDED if second else REMOVED
        diff, note = _compared(path, first, second, read)
        yield {"path": path, "change": kind, "diff": diff, "note": note}


def _compared(path: str, first: Entry | None, second: Entry | None, read: Read) -> tuple[str | None, str | None]:
    both = [entry for entry in (first, second) if entry is not None]
    if any(entry.kind != FILE for entry in both):
        return None, " → ".join(f"{each.kind} {each.target}".strip() for each in both)
    if first and second and first.digest == second.digest:
        return None, "may be run" if second.executable else "may not be run any more"
    if any(entry.size > LARGEST for entry in both):
        return None, f"more than {LARGEST >> 10} KiB"
    texts = [_lines(read(entry.digest)) if entry else [] for entry in (first, second)]
    if any(lines is None for lines in texts):
        return None, "no text"
    before, after = (lines or [] for lines in texts)
    if max(len(before), len(after)) > MOST_LINES:
        return None, f"more than {MOST_LINES:,} lines"
    lines = difflib.unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm="")
    return "\n".join(lines) + "\n", None


def _lines(content: bytes) -> list[str] | None:
    """The lines of a text; None when it is none."""
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return None
