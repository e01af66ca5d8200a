"""The wire format of protocol buffers: the fields of a message, and writing one, with nothing but the standard library.

What a field means is not in the message: `event_files` and the forms of requests know it of theirs.
"""

from __future__ import annotations

from typing import Iterator

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5
"""Kinds of fields: a whole number, eight bytes, a length with so many bytes, four bytes."""


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message: their numbers, and an int (VARINT) or bytes (all else). ValueError where it is none.

    >>> list(fields(whole(1, 300) + block(2, b"abc")))
    [(1, 300), (2, b'abc')]
    """
    place, size = 0, len(message)
    while place < size:
        key, place = read_varint(message, place)
        kind = key & 7
        if kind == VARINT:
            value, place = read_varint(message, place)
            yield key >> 3, value
            continue
        if kind == BYTES:
            length, place = read_varint(message, place)
        elif kind in (EIGHT, FOUR):
            length = 8 if kind == EIGHT else 4
        else:
            raise ValueError(f"it has a field of the kind {kind}")
        if place + length > size:
            raise ValueError("it ends within a field")
        yield key >> 3, message[place : place + length]
        place += length


def read_varint(message: bytes, place: int) -> tuple[int, int]:
    """The whole number at a place, and the place after it. ValueError."""
    shift = value = 0
    try:
        while shift < 64:
            byte = message[place]
            place += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, place
            shift += 7
    except IndexError:
        raise ValueError("it ends within a number") from None
    raise ValueError("it has a number of more than ten bytes")


def signed(value: int) -> int:
    """
    >>> signed((1 << 64) - 1), signed(7)
    (-1, 7)
    """
    return value - (1 << 64) if value >> 63 else value


def varint(value: int) -> bytes:
    """
    >>> varint(300).hex()
    'ac02'
    """
    written = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    written.append(value)
    return bytes(written)


def field(name: int, kind: int, payload: bytes) -> bytes:
    return varint(name << 3 | kind) + payload


def whole(name: int, value: int) -> bytes:
    """A field with a whole number; a negative one is written as protocol buffers do."""
    return field(name, VARINT, varint(value))


def block(name: int, payload: bytes) -> bytes:
    """A field with bytes, a text or a message."""
    return field(name, BYTES, varint(len(payload)) + payload)
