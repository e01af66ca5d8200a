"""TensorBoard's event files: the scalars in one, and writing one, with nothing but the standard library.

A file is a row of frames: the length of a record (8 bytes), a checksum of it, the record, a checksum of that. A record
is an `Event` of TensorBoard's protocol buffers, of which only what scalars need is read and written here. Pictures and
histograms are passed over: TensorBoard itself shows those.
"""

from __future__ import annotations

import functools
import struct
from typing import BinaryIO, Iterator, NamedTuple, Sequence

from runyard.contracts.formats.protocol_buffers import EIGHT, FOUR, block, field, fields, signed, whole

MARK = "tfevents"
"""In the name of every event file."""

LARGEST = 1 << 28
"""A frame that claims to be longer than this is not the beginning of a record."""

_FRAME = struct.Struct("<QI")  # the length and its checksum
_CHECKSUM = struct.Struct("<I")
_FLOATS = 1  # DT_FLOAT
_DOUBLES = 2  # DT_DOUBLE
_FORMATS = {_FLOATS: "<f", _DOUBLES: "<d"}


class Scalar(NamedTuple):
    """One point: what TensorBoard draws under `tag`."""

    tag: str
    value: float
    step: int
    time: float


class Damaged(Exception):
    """The bytes are not those of an event file; nothing after them can be read."""


def is_event_file(name: str) -> bool:
    """
    >>> is_event_file("logs/run1/events.out.tfevents.1700000000.host.1.0.v2"), is_event_file("logs/tfevents/a.txt")
    (True, False)
    """
    return MARK in name.rpartition("/")[2]


def scalars(data: bytes) -> tuple[list[Scalar], int]:
    """The scalars of all whole records, and how many bytes those take: a writer may be in the middle of the next.

    Call it again with what comes after them. Raises Damaged where the bytes cannot be a record.
    """
    found: list[Scalar] = []
    place, size = 0, len(data)
    while place + _FRAME.size <= size:
        length, _ = _FRAME.unpack_from(data, place)
        if length > LARGEST:
            raise Damaged(f"a record of {length} bytes at byte {place}")
        end = place + _FRAME.size + length + _CHECKSUM.size
        if end > size:
            break
        try:
            found.extend(_of_event(data[place + _FRAME.size : end - _CHECKSUM.size]))
        except (struct.error, ValueError) as error:
            raise Damaged(f"a record that is no event at byte {place} ({error})") from None
        place = end
    return found, place


class EventFile:
    """An event file that is being written. `stream` was opened to write bytes."""

    def __init__(self, stream: BinaryIO, time: float) -> None:
        self._stream = stream
        self._write(field(1, EIGHT, struct.pack("<d", time)) + _text(3, "brain.Event:2"))

    def add(self, points: Sequence[Scalar]) -> None:
        for point in points:
            value = _text(1, point.tag) + field(2, FOUR, struct.pack("<f", _single(point.value)))
            event = field(1, EIGHT, struct.pack("<d", point.time)) + whole(2, point.step)
            self._write(event + block(5, block(1, value)))

    def _write(self, record: bytes) -> None:
        length = struct.pack("<Q", len(record))
        head = length + _CHECKSUM.pack(_masked(length))
        self._stream.write(head + record + _CHECKSUM.pack(_masked(record)))


def _single(value: float) -> float:
    """A value that a single-precision number can hold: what is too large is infinite.

    >>> _single(1e300), _single(-1e300), _single(0.5)
    (inf, -inf, 0.5)
    """
    try:
        struct.pack("<f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value


def _of_event(record: bytes) -> Iterator[Scalar]:
    time, step, summary = 0.0, 0, b""
    for number, value in fields(record):
        if number == 1 and isinstance(value, bytes):
            (time,) = struct.unpack("<d", value)
        elif number == 2 and isinstance(value, int):
            step = signed(value)
        elif number == 5 and isinstance(value, bytes):
            summary = value
    for number, value in fields(summary):
        if number == 1 and isinstance(value, bytes):
            tag, scalar = _tag_and_value(value)
            if scalar is not None:
                yield Scalar(tag, scalar, step, time)


def _tag_and_value(message: bytes) -> tuple[str, float | None]:
    tag, found = "", None
    for number, value in fields(message):
        if not isinstance(value, bytes):
            continue
        if number == 1:
            tag = value.decode("utf-8", "replace")
        elif number == 2 and len(value) == 4:
            (found,) = struct.unpack("<f", value)
        elif number == 8:
            found = _of_tensor(value)
    return tag, found


def _of_tensor(message: bytes) -> float | None:
    """The number in a tensor without dimensions; None for any other tensor."""
    kind, content, dimensions = 0, b"", b""
    for number, value in fields(message):
        if number == 1 and isinstance(value, int):
            kind = value
        elif number == 2 and isinstance(value, bytes):
            dimensions = value
        elif number in (4, 5, 6) and isinstance(value, bytes):  # tensor_content, float_val, double_val
            content = value
    form = _FORMATS.get(kind)
    if form is None or dimensions or len(content) != struct.calcsize(form):
        return None
    (number,) = struct.unpack(form, content)
    return float(number)


def _text(number: int, text: str) -> bytes:
    return block(number, text.encode("utf-8", "replace"))


def _masked(data: bytes) -> int:
    """The checksum as these files have it: CRC-32C, turned by 15 bits, plus a constant.

    >>> hex(_masked(b"123456789"))
    '0xc78ab0e5'
    """
    table, crc = _table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF


@functools.lru_cache(maxsize=None)
def _table() -> tuple[int, ...]:
    """Of CRC-32C, which the standard library does not have (zlib's is another polynomial)."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return tuple(table)
