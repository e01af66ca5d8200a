"""What differs between the source of two runs: the files of two snapshots, and the lines of those that are text."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterator, Sequence

from runyard.contracts.manifest import FILE, Entry, Manifest
from runyard.server.responses.documents import Json

LARGEST = 512 << 10
"""Bytes of a file whose lines are compared."""

MOST_LINES = 8000
"""Lines of one: the time that a comparison takes can grow with their square, and more."""

MOST_SECONDS = 10.0
"""What the lines of all files may take together. Of files that come later it is only said that they differ."""

MOST_TEXT = 16 << 20
"""Characters of all changed lines together, likewise."""

NOT_COMPARED = "not compared: too much differs"

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
Read = Callable[[str], bytes]
"""From the hash of a file's content to its bytes."""


class _Spent(Exception):
    """The time for comparing lines is over."""


class _Matcher(difflib.SequenceMatcher[str]):
    """Gives up at a moment: lines that come again and again can keep it busy for minutes."""

    def __init__(self, before: Sequence[str], after: Sequence[str], until: float) -> None:
        super().__init__(None, before, after)
        self._until = until

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        if time.monotonic() > self._until:
            raise _Spent
        return super().find_longest_match(alo, ahi, blo, bhi)


def changes(before: Manifest, after: Manifest, read: Read, seconds: float = MOST_SECONDS) -> Iterator[Json]:
    """The files that are not the same in both, by path; with `diff` where both are text, else with a `note`."""
    old = {entry.path: entry for entry in before.entries}
    new = {entry.path: entry for entry in after.entries}
    until, text = time.monotonic() + seconds, 0
    for path in sorted({*old, *new}):
        first, second = old.get(path), new.get(path)
        if first == second:
            continue
        kind = CHANGED if first and second else ADDED if second else REMOVED
        diff, note = _compared(path, first, second, read, until if text < MOST_TEXT else 0.0)
        text += len(diff or "")
        yield {"path": path, "change": kind, "diff": diff, "note": note}


def _compared(
    path: str, first: Entry | None, second: Entry | None, read: Read, until: float
) -> tuple[str | None, str | None]:
    both = [entry for entry in (first, second) if entry is not None]
    if any(entry.kind != FILE for entry in both):
        return None, " → ".join(f"{each.kind} {each.target}".strip() for each in both)
    if first and second and first.digest == second.digest:
        return None, "may be run" if second.executable else "may not be run any more"
    if any(entry.size > LARGEST for entry in both):
        return None, f"more than {LARGEST >> 10} KiB"
    if time.monotonic() > until:
        return None, NOT_COMPARED
    texts = [_lines(read(entry.digest)) if entry else [] for entry in (first, second)]
    if any(lines is None for lines in texts):
        return None, "no text"
    before, after = (lines or [] for lines in texts)
    if max(len(before), len(after)) > MOST_LINES:
        return None, f"more than {MOST_LINES:,} lines"
    if before == after:
        return None, "only the ends of lines differ" if first and second else "empty"
    try:
        return "\n".join(_unified(path, before, after, until)) + "\n", None
    except _Spent:
        return None, NOT_COMPARED


def _unified(path: str, before: Sequence[str], after: Sequence[str], until: float) -> Iterator[str]:
    """What `difflib.unified_diff` gives, which takes no matcher of one's own."""
    yield f"--- a/{path}"
    yield f"+++ b/{path}"
    for group in _Matcher(before, after, until).get_grouped_opcodes():
        (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
        yield f"@@ -{_place(old_start, old_end)} +{_place(new_start, new_end)} @@"
        for tag, start, end, other_start, other_end in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[start:end])
            else:
                yield from (f"-{line}" for line in before[start:end])
                yield from (f"+{line}" for line in after[other_start:other_end])


def _place(start: int, end: int) -> str:
    """Lines from `start` to `end` as a unified diff names them: the first is 1, and none are after the one before."""
    many = end - start
    first = start + 1 if many else start
    return f"{first}" if many == 1 else f"{first},{many}"


def _lines(content: bytes) -> list[str] | None:
    """The lines of a text; None when it is none."""
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return None
