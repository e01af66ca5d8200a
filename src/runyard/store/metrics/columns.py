"""Columns of a chunk in few bytes, and back without the loss of a bit. Nothing here knows chunks or the database.

A column is plain bytes (numbers of 8 bytes each, little-endian, or JSON) on one side, and on the other side

    first byte   then
    r            the plain bytes: nothing shorter was found
    c            first and last: whole numbers at equal distances, such as the steps 0, 1, 2, ...
    i            first, last, smallest, planes: whole numbers, each less the smallest
    e            first, last, smallest, planes: whole numbers, as differences from one to the next
    f            first, last, planes: floats
    s            first, last, decimals, column: floats with few decimals, as whole numbers
    z            deflated text
    n            column: text that is a list of whole numbers

Planes are the first bytes of all numbers, then their second bytes, and so on: the high ones hardly differ and nearly
vanish when they are deflated, while the noise in the low ones is stored as it is. Times are treated as whole numbers
too: within a power of two, floats are as far apart as their bit patterns. `first` and `last` are 8 bytes each and found
without unpacking.
"""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import sub
from typing import Any

from runyard.store.metrics import exact_json

RAW, EVEN, WHOLE, DIFFERENCES, FLOATS, SCALED, DEFLATED, LIST = b"r", b"c", b"i", b"e", b"f", b"s", b"z", b"n"

MOST_DECIMALS = 6
SAMPLE = 16
"""So many floats are tried for their decimals, before all are."""

NOISE = 140
"""Of 256 random bytes some 160 are different ones. Trying to deflate such bytes is most of the work, and in vain."""

_LENGTH = struct.Struct("<I")
_WHOLE = struct.Struct("<q")
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


def pack_whole(plain: bytes) -> bytes:
    """Pack whole numbers, or floats that are treated as such (times)."""
    rising = _rising_differences(plain)
    if rising is not None:
        smallest, largest = min(rising, default=0), max(rising, default=0)
        if smallest == largest:
            return EVEN + _ends(plain)
        offsets = _less(rising, smallest)
        return _shortest(DIFFERENCES, plain, smallest, largest - smallest, offsets)
    numbers = unpacked("q", plain).tolist()
    differences = list(map(sub, numbers[1:], numbers))
    smallest, largest = min(differences, default=0), max(differences, default=0)
    if smallest == largest:
        return EVEN + _ends(plain)
    kind, rest, span = DIFFERENCES, differences, largest - smallest
    if max(numbers) - min(numbers) <= span:
        kind, rest, smallest, span = WHOLE, numbers, min(numbers), max(numbers) - min(numbers)
    if span > 2**64 - 1 or not _LOWEST <= smallest <= _HIGHEST:
        return RAW + plain
    return _shortest(kind, plain, smallest, span, packed(array("Q", [number - smallest for number in rest])))


def pack_floats(plain: bytes) -> bytes:
    whole = _scaled(plain)
    if whole is not None:
        decimals, numbers = whole
        return SCALED + _ends(plain) + bytes([decimals]) + pack_whole(packed(array("q", numbers)))
    found = FLOATS + _ends(plain) + _planes(plain, 8)
    return found if len(found) <= len(plain) else RAW + plain


def pack_text(plain: bytes) -> bytes:
    """Pack JSON. A list of whole numbers comes back as the same list."""
    if not plain.strip(b"[]0123456789,-"):
        numbers = exact_json.loads(plain)
        if numbers and all(type(number) is int and _LOWEST <= number <= _HIGHEST for number in numbers):
            return LIST + _LENGTH.pack(len(numbers)) + pack_whole(packed(array("q", numbers)))
    found = DEFLATED + _deflated(plain)
    return found if len(found) <= len(plain) else RAW + plain


def unpack(column: bytes, count: int) -> bytes:
    """The plain bytes of `count` numbers, or the text. ValueError when the column is damaged."""
    kind, rest = column[:1], column[1:]
    try:
        if kind == RAW:
            return rest
        if kind == EVEN:
            return packed(array("q", _even(rest, count)))
        if kind in (WHOLE, DIFFERENCES):
            return packed(array("q", _whole(kind, rest, count)))
        if kind == FLOATS:
            return _numbers(rest[16:], count)
        if kind == SCALED:
            scale = 10 ** rest[16]
            return packed(array("d", [number / scale for number in unpacked("q", unpack(rest[17:], count))]))
        if kind == DEFLATED:
            return zlib.decompress(rest, -15)
        if kind == LIST:
            return exact_json.dumps(unpacked("q", unpack(rest[4:], *_LENGTH.unpack(rest[:4]))).tolist())
    except (struct.error, zlib.error, IndexError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(f"a packed column is damaged ({error})") from error
    raise ValueError(f"there is no column of the kind {kind!r}")


def ends(column: bytes) -> tuple[bytes, bytes]:
    """The first and the last number, 8 bytes each."""
    return column[1:9], column[-8:] if column[:1] == RAW else column[9:17]


def reader(code: str, column: bytes, count: int) -> Callable[[int], Any]:
    """Gives single numbers of a column (`code` as in `unpacked`), best in rising order: not all of them are made."""
    kind, rest = column[:1], column[1:]
    as_code = struct.Struct(f"<{code}")
    if kind == EVEN:
        first, last = _WHOLE.unpack(rest[:8])[0], _WHOLE.unpack(rest[8:16])[0]
        distance = (last - first) // max(1, count - 1)
        return lambda at: as_code.unpack(_WHOLE.pack(first + at * distance))[0]
    if kind != DIFFERENCES:
        return unpacked(code, unpack(column, count)).__getitem__
    offsets = unpacked("Q", _numbers(rest[24:], count - 1))
    (first,), (base,) = _WHOLE.unpack(rest[:8]), _WHOLE.unpack(rest[16:24])
    reached, total = 0, first

    def number(at: int) -> Any:
        nonlocal reached, total
        if at < reached:
            reached, total = 0, first
        total += sum(offsets[reached:at]) + base * (at - reached)
        reached = at
        return as_code.unpack(_WHOLE.pack(total))[0]

    return number


def packed(numbers: array[Any]) -> bytes:
    """Numbers as plain bytes."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def unpacked(code: str, plain: bytes) -> array[Any]:
    """Plain bytes as numbers: floats (`d`) or whole ones (`q`)."""
    numbers: array[Any] = array(code)
    numbers.frombytes(plain)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _shortest(kind: bytes, plain: bytes, base: int, span: int, offsets: bytes) -> bytes:
    found = kind + _ends(plain) + _WHOLE.pack(base) + _planes(offsets, (span.bit_length() + 7) // 8)
    return found if len(found) <= len(plain) else RAW + plain


def _rising_differences(plain: bytes) -> array[int] | None:
    """The differences between whole numbers from 0 on that never fall; None for others.

    All are subtracted at once, as two long numbers, which takes an eighth of the time: where no difference is
    negative, nothing is borrowed from the next one. One that is negative shows as a huge one.
    """
    if max(plain[7::8]) > 127:
        return None
    after, before = int.from_bytes(plain[8:], "little"), int.from_bytes(plain[:-8], "little")
    if after < before:
        return None
    differences = unpacked("Q", (after - before).to_bytes(len(plain) - 8, "little"))
    return differences if max(differences, default=0) <= _HIGHEST else None


def _less(numbers: array[int], base: int) -> bytes:
    """Whole numbers, each less `base`, which none of them is below."""
    plain = packed(numbers)
    less = int.from_bytes(plain, "little") - int.from_bytes(struct.pack("<Q", base) * len(numbers), "little")
    return less.to_bytes(len(plain), "little")


def _ends(plain: bytes) -> bytes:
    return plain[:8] + plain[-8:]


def _even(ends: bytes, count: int) -> Sequence[int]:
    first, last = struct.unpack("<qq", ends[:16])
    distance = (last - first) // max(1, count - 1)
    return range(first, first + count * distance, distance) if distance else [first] * count


def _whole(kind: bytes, rest: bytes, count: int) -> Sequence[int]:
    first, (base,) = _WHOLE.unpack(rest[:8])[0], _WHOLE.unpack(rest[16:24])
    held = count if kind == WHOLE else count - 1
    offsets = unpacked("Q", _numbers(rest[24:], held))
    if kind == WHOLE:
        return [offset + base for offset in offsets]
    return list(accumulate([first, *[offset + base for offset in offsets]]))


def _planes(plain: bytes, number: int) -> bytes:
    """The lowest `number` bytes of all numbers: byte by byte, each plane deflated where that pays."""
    found = [bytes([number])]
    for at in range(number):
        plane = plain[at::8]
        if plane.count(plane[0]) == len(plane):
            short = plane[:1]
        elif len(set(plane[:256])) > NOISE:
            short = plane
        else:
            short = _deflated(plane)
            if not 1 < len(short) < len(plane):
                short = plane
        found += (_LENGTH.pack(len(short)), short)
    return b"".join(found)


def _numbers(planes: bytes, count: int) -> bytes:
    """Numbers of 8 bytes from their planes; those that are not stored are 0."""
    plain, start = bytearray(8 * count), 1
    for at in range(planes[0]):
        (length,) = _LENGTH.unpack(planes[start : start + 4])
        start += 4
        short = planes[start : start + length]
        start += length
        if length == count:
            plain[at::8] = short
        elif length == 1:
            plain[at::8] = short * count
        else:
            plain[at::8] = zlib.decompress(short, -15, count)
    return bytes(plain)


def _deflated(plain: bytes) -> bytes:
    deflater = zlib.compressobj(1, zlib.DEFLATED, -15)
    return deflater.compress(plain) + deflater.flush()


def _scaled(plain: bytes) -> tuple[int, list[int]] | None:
    """How many decimals the floats have, and what they are without the point; None when they are no such floats."""
    numbers = unpacked("d", plain)
    some = numbers[:: max(1, len(numbers) // SAMPLE)]
    for decimals in range(MOST_DECIMALS + 1):
        if _without_point(some, 10**decimals) is not None:
            found = _without_point(numbers, 10**decimals)
            return None if found is None else (decimals, found)
    return None


def _without_point(numbers: array[float], scale: int) -> list[int] | None:
    try:
        whole = [round(number * scale) for number in numbers]
    except (ValueError, OverflowError):  # of NaN and the infinities
        return None
    if not -(2**53) <= min(whole) <= max(whole) <= 2**53:
        return None
    # Compared byte by byte: -0.0 is another value than 0.0.
    return whole if array("d", [number / scale for number in whole]).tobytes() == numbers.tobytes() else None
