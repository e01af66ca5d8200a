"""Reading one of TensorBoard's event files as it grows, and writing its scalars into a journal.

Each event file has a journal of its own, whose content follows from the content of the file alone. So whoever goes on
after a node runner that died makes the same lines again, and the server, which numbers a journal by bytes, takes none
of them twice. A file whose beginning has changed is another file: it has another journal.
"""

from __future__ import annotations

import json
import math
import os
import struct
import zlib
from hashlib import sha1
from pathlib import Path
from typing import BinaryIO, Callable, Iterator, Sequence

from runyard.contracts import journal
from runyard.contracts.formats import event_files
from runyard.contracts.formats.event_files import Damaged, Scalar
from runyard.node.delivery.growing_files import open_regular
from runyard.node.log import log_line

CHUNK = 1 << 20
SKIPPED_FROM = 16 << 20  # a record of so many bytes is a picture or the like, and is not read
LONGEST_TAG = 500
TAIL = 64
_HEAD = struct.Struct("<Q")
_AROUND = 16  # bytes of a frame that are not its record: the length and two checksums
_NO_STEP = -(1 << 63)

Admits = Callable[[str], bool]
"""Whether a tag may have a series."""


class EventFileReader:
    """`name` is what the file is called in the run's folder, `prefix` what comes before its tags."""

    def __init__(self, path: str, name: str, prefix: str, telemetry: Path, run_id: str, admits: Admits) -> None:
        self.position = 0
        self.warning: str | None = None  # why it is not read any further
        self._path, self._name, self._prefix = path, name, prefix
        self._telemetry, self._run_id, self._admits = telemetry, run_id, admits
        self._generation, self._inode = 1, 0
        self._checksum = 0  # of everything before the position
        self._tail = b""  # the last bytes before it
        self._made = 0  # bytes of its journal that follow from that
        self._there: int | None = None  # bytes that its journal had when it was opened

    def read_some(self) -> bool:
        """Read on; whether something was written into its journal."""
        made = self._made
        try:
            with open_regular(self._path) as stream:
                self._check(stream)
                data = self._next_records(stream) if self.warning is None else b""
        except Damaged as why:
            self._stop(why)
        except OSError:
            pass  # it was removed, or is not to be read
        else:
            if data:
                self._take(data)
        return self._made > made

    def _stop(self, why: Damaged) -> None:
        self.warning = f"{self._name} is not read any further: {why}. TensorBoard shows what it can of it."

    def _check(self, stream: BinaryIO) -> None:
        """A file that is shorter or another one than before is read anew, unless it begins as it did."""
        status = os.fstat(stream.fileno())
        tail = os.pread(stream.fileno(), len(self._tail), self.position - len(self._tail))
        if self._inode in (0, status.st_ino) and tail == self._tail:
            self._inode = status.st_ino
            return
        self._inode = status.st_ino
        if not self._begins_the_same(stream):
            log_line(f"{self._name} was written anew: it is read from its beginning")
            self._generation += 1
            self.position = self._checksum = self._made = 0
            self._there, self.warning, self._tail = None, None, b""

    def _begins_the_same(self, stream: BinaryIO) -> bool:
        seen = position = 0
        while position < self.position:
            some = os.pread(stream.fileno(), min(CHUNK, self.position - position), position)
            if not some:
                return False
            seen = zlib.crc32(some, seen)
            position += len(some)
        return seen == self._checksum

    def _next_records(self, stream: BinaryIO) -> bytes:
        """Bytes that begin with a whole record, if there is one; what is too large to be a scalar is passed over."""
        size = os.fstat(stream.fileno()).st_size
        while self.position + _HEAD.size <= size:
            (length,) = _HEAD.unpack(os.pread(stream.fileno(), _HEAD.size, self.position))
            if length > event_files.LARGEST:
                raise Damaged(f"a record of {length} bytes at byte {self.position}")
            end = self.position + length + _AROUND
            if end > size:
                break  # its writer is in the middle of it
            if length < SKIPPED_FROM:
                return os.pread(stream.fileno(), max(CHUNK, length + _AROUND), self.position)
            self._pass(stream, end)
        return b""

    def _pass(self, stream: BinaryIO, end: int) -> None:
        while self.position < end:
            some = os.pread(stream.fileno(), min(CHUNK, end - self.position), self.position)
            if not some:
                raise OSError("it became shorter")
            self._passed(some)

    def _passed(self, data: bytes) -> None:
        self._checksum = zlib.crc32(data, self._checksum)
        self._tail = (self._tail + data)[-TAIL:]
        self.position += len(data)

    def _take(self, data: bytes) -> None:
        try:
            points, used = event_files.scalars(data)
        except Damaged as why:
            points, used = self._before_damage(data, why)
        lines = b"".join(self._lines(points))
        if self._there is None:
            self._there = self._size()
        fresh = lines[max(0, self._there - self._made) :]
        if fresh:
            self._append(fresh)
        self._made += len(lines)
        self._passed(data[:used])

    def _before_damage(self, data: bytes, why: Damaged) -> tuple[list[Scalar], int]:
        """What can be read of records of which one is bad: those before it."""
        self._stop(why)
        points: list[Scalar] = []
        place = 0
        while place + _HEAD.size <= len(data):
            end = place + _HEAD.unpack_from(data, place)[0] + _AROUND
            try:
                some, used = event_files.scalars(data[place:end])
            except Damaged:
                break
            if not used:
                break
            points += some
            place += used
        return points, place

    def _lines(self, points: Sequence[Scalar]) -> Iterator[bytes]:
        for point in points:
            name = self._prefix + (point.tag or "scalar")[:LONGEST_TAG]
            if self._admits(name):
                at = point.time if math.isfinite(point.time) else 0.0
                step = None if point.step == _NO_STEP else point.step
                record = [journal.OBSERVED, journal.EVENTS, at, step, {name: journal.pack_value(point.value)}]
                yield json.dumps(record, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"

    def _journal(self) -> Path:
        digest = sha1(self._name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        writer = f"{journal.EVENTS}-{digest}-{self._generation}"
        return self._telemetry / "journal" / journal.file_name(self._run_id, writer)

    def _size(self) -> int:
        """How much of its journal another node runner has written. A line that it did not finish is taken away."""
        try:
            with open(self._journal(), "r+b") as stream:
                content = stream.read()
                whole = content.rfind(b"\n") + 1
                if whole < len(content):
                    stream.truncate(whole)
                return whole
        except FileNotFoundError:
            return 0

    def _append(self, lines: bytes) -> None:
        path = self._journal()
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab", buffering=0) as stream:
            before = stream.tell()
            left = memoryview(lines)
            try:
                while left:
                    left = left[stream.write(left) or 0 :]
            except OSError:
                os.ftruncate(stream.fileno(), before)  # a full disk: all of it again, later
                raise
