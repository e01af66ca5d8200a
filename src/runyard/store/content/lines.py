"""Files by lines: which one is where, without holding the file. What was counted once is remembered while it grows."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import BinaryIO

BLOCK = 1 << 20
"""The file is counted in blocks of so many bytes: within one, lines are looked for."""

LONGEST = 20_000
"""Bytes of a line that are shown; a log can be one line of a gigabyte."""

MOST_BYTES = 2 << 20
"""Of all lines that are read at once."""

AROUND = 100
"""Bytes before and after what was looked for."""

REMEMBERED = 200
"""Files whose counts are kept."""


@dataclass
class Counts:
    """How many lines end before the end of each block of a file, as far as it was counted."""

    ends: list[int] = field(default_factory=list)
    size: int = 0
    last: int = 0
    """Lines that end in the last, unfinished block."""
    is_open: bool = False
    """Whether the file goes on after its last line feed."""

    @property
    def finished(self) -> int:
        """How many lines end in it."""
        return (self.ends[-1] if self.ends else 0) + self.last

    @property
    def lines(self) -> int:
        return self.finished + self.is_open


@dataclass(frozen=True)
class Row:
    """One line: its beginning, and how many more bytes it has."""

    text: str
    more: int


@dataclass(frozen=True)
class Hit:
    """A line in which something was found, and the text around it."""

    line: int
    text: str


class LineCounts:
    """The counts of the files that were looked at last. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: OrderedDict[str, Counts] = OrderedDict()

    def of(self, key: str, file: BinaryIO, size: int) -> Counts:
        """The counts of an open file of so many bytes; `key` is another one when what was there has changed."""
        with self._lock:
            known = self._counts.get(key)
        if known is None or known.size > size:
            known = Counts()
        counts = counted(file, size, known) if known.size < size or not known.size else known
        with self._lock:
            self._counts[key] = counts
            self._counts.move_to_end(key)
            while len(self._counts) > REMEMBERED:
                self._counts.popitem(last=False)
        return counts


def counted(file: BinaryIO, size: int, known: Counts) -> Counts:
    """The counts of a file, beginning with what is known of its first blocks."""
    ends = list(known.ends)
    file.seek(len(ends) * BLOCK)
    total, last, position, end = (ends[-1] if ends else 0), 0, len(ends) * BLOCK, b""
    while position < size:
        block = file.read(min(BLOCK, size - position))
        if not block:
            break
        position += len(block)
        found = block.count(b"\n")
        if len(block) == BLOCK:
            total += found
            ends.append(total)
        else:
            last = found
        end = block[-1:]
    return Counts(ends, position, last, position > 0 and end != b"\n" and (end != b"" or known.is_open))


def read(file: BinaryIO, counts: Counts, first: int, number: int) -> list[Row]:
    """So many lines from the line `first` on (the first one is 0); fewer where they are long."""
    rows: list[Row] = []
    start = start_of(file, counts, first)
    taken = 0
    while start is not None and start < counts.size and len(rows) < number and taken < MOST_BYTES:
        end = start_of(file, counts, first + len(rows) + 1)
        stop = counts.size if end is None else end
        length = stop - start
        file.seek(start)
        if length <= BLOCK and number > 1:
            rows_here = _lines(file.read(min(BLOCK, counts.size - start)), start, counts.size)
            rows_here = rows_here[: number - len(rows)]
            for row in rows_here:
                rows.append(row)
                taken += len(row.text)
        else:
            rows.append(_row(file.read(min(length, LONGEST + 1)), length))
            taken += LONGEST
        start = start_of(file, counts, first + len(rows))
    return rows


def start_of(file: BinaryIO, counts: Counts, line: int) -> int | None:
    """Where a line begins; None when there are not so many."""
    if line == 0:
        return 0
    if line > counts.finished:
        return None
    block = bisect_right(counts.ends, line - 1)
    left = line - (counts.ends[block - 1] if block else 0)
    file.seek(block * BLOCK)
    content = file.read(min(BLOCK, counts.size - block * BLOCK))
    at = -1
    # Line feed by line feed: at most a block of them.
    for _ in range(left):
        at = content.find(b"\n", at + 1)
        if at < 0:
            return None
    return block * BLOCK + at + 1


def find(file: BinaryIO, size: int, text: str, most: int) -> tuple[list[Hit], bool]:
    """The lines that hold a text, in capital letters or small ones; whether there are more than so many."""
    wanted = text.lower().encode("utf-8", "replace")
    hits: list[Hit] = []
    file.seek(0)
    line, position, kept, former = 0, 0, b"", -1
    while position < size:
        block = file.read(min(BLOCK, size - position))
        if not block:
            break
        position += len(block)
        content = kept + block
        small = content.lower()
        done = 0
        at = small.find(wanted)
        while at >= 0:
            line += content.count(b"\n", done, at)
            done = at
            if line != former:
                if len(hits) == most:
                    return hits, True
                hits.append(Hit(line, _around(content, at, len(wanted))))
                former = line
            end = content.find(b"\n", at)
            at = small.find(wanted, at + 1 if end < 0 else end)
            if end < 0:
                break
        keep = len(wanted) - 1
        cut = max(done, len(content) - keep)
        line += content.count(b"\n", done, cut)
        kept = content[cut:]
    return hits, False


def _around(content: bytes, at: int, length: int) -> str:
    start = max(content.rfind(b"\n", 0, at) + 1, at - AROUND)
    end = content.find(b"\n", at)
    stop = min(at + length + AROUND, len(content) if end < 0 else end)
    return content[start:stop].decode("utf-8", "replace")


def _lines(content: bytes, start: int, size: int) -> list[Row]:
    """The whole lines at the beginning of a piece of a file."""
    lines = content.split(b"\n")
    last = lines.pop()
    if last and start + len(content) == size:
        lines.append(last)
    return [_row(each, len(each)) for each in lines]


def _row(content: bytes, length: int) -> Row:
    text = content[:LONGEST].decode("utf-8", "replace").removesuffix("\n")
    return Row(text, max(0, length - LONGEST))
