"""Chunks: many points of a series packed into a few bytes, and back. Nothing here knows the database.

    encoding   values
    d          every value a float: 8 bytes each, little-endian
    n          numbers, whole ones among them: JSON
    j          anything a journal may hold: JSON
    t          rows of a table: JSON, a list of pieces {column: [value, ...]}
    D N J T    the same, with each column packed (`columns`)

Values in JSON are written as in the journal, so that 1, 1.0 and true stay what they are, and NaN survives. Times are
floats and steps are whole numbers of 8 bytes each; `NO_STEP` means none.

A chunk is *open* in the plain form, to which points are added, and *closed* in the packed one, which takes about a
third of the space. Functions that look at points take chunks of either form.
"""

from __future__ import annotations

import math
import struct
import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from runyard.contracts.journal import NON_FINITE, pack_value
from runyard.store.errors import Damaged
from runyard.store.metrics import columns, exact_json

FLOATS, NUMBERS, ANY, ROWS = "d", "n", "j", "t"
NUMERIC = frozenset({FLOATS, NUMBERS})

NO_STEP = -(2**63)
SMALL = 512
"""A chunk with fewer points takes further ones; a run that logs once a second would make a chunk of each else."""

_LARGE = 1 << 1000
"""Whole numbers may be longer than what a float can hold."""

_CLOSED = {encoding: encoding.upper() for encoding in (FLOATS, NUMBERS, ANY, ROWS)}

_SCALARS = frozenset({int, float, str, bool, type(None), dict})


@dataclass(frozen=True)
class Chunk:
    count: int
    encoding: str
    times: bytes
    steps: bytes | None
    values: bytes
    smallest: float | None = None
    largest: float | None = None

    @classmethod
    def of(cls, columns: Mapping[Any, Any]) -> Chunk:
        """The chunk that a row holds."""
        return cls(**{name: columns[name] for name in cls.__dataclass_fields__})

    @property
    def is_closed(self) -> bool:
        return self.encoding.isupper()

    @property
    def is_numeric(self) -> bool:
        return self.encoding.lower() in NUMERIC

    def joined(self, other: Chunk) -> Chunk:
        """This chunk with the points of another of the same encoding after its own; both are open."""
        steps = None
        if self.steps is not None or other.steps is not None:
            steps = (self.steps or _no_steps(self.count)) + (other.steps or _no_steps(other.count))
        values = self.values + other.values
        if self.encoding != FLOATS:
            values = self.values[:-1] + b"," + other.values[1:]
        return Chunk(
            self.count + other.count,
            self.encoding,
            self.times + other.times,
            steps,
            values,
            *_extremes([n for n in (self.smallest, self.largest, other.smallest, other.largest) if n is not None]),
        )


def pack(values: list[Any], times: list[Any], steps: list[Any]) -> Chunk:
    """Pack points whose values are written as in the journal.

    TypeError, ValueError, KeyError or OverflowError when something is no value, no time or no step.
    """
    kinds = set(map(type, values))
    if not kinds <= _SCALARS:
        raise TypeError("a value is a number, a string, a bool or null")
    if kinds <= {float, dict}:
        numbers = array("d", [_plain(value) for value in values] if dict in kinds else values)
        return Chunk(len(values), FLOATS, _times(times), _steps(steps), columns.packed(numbers), *extremes(numbers))
    if dict in kinds:
        for value in values:
            _plain(value)
    if math.inf in values or -math.inf in values:  # 1e999, which JSON can read but not write
        raise ValueError("an infinite value is written {'f': 'inf'} or {'f': '-inf'}")
    encoding = NUMBERS if kinds <= {int, float, dict} else ANY
    return Chunk(len(values), encoding, _times(times), _steps(steps), exact_json.dumps(values))


def closed(chunk: Chunk) -> Chunk:
    """The chunk in its packed form, to which nothing can be added."""
    if chunk.is_closed:
        return chunk
    return replace(
        chunk,
        encoding=_CLOSED[chunk.encoding],
        times=columns.pack_whole(chunk.times),
        steps=None if chunk.steps is None else columns.pack_whole(chunk.steps),
        values=columns.pack_floats(chunk.values) if chunk.encoding == FLOATS else columns.pack_text(chunk.values),
    )


def opened(chunk: Chunk) -> Chunk:
    """The chunk in its plain form. Damaged when it cannot be unpacked."""
    if not chunk.is_closed:
        return chunk
    return replace(
        chunk,
        encoding=chunk.encoding.lower(),
        times=_plain_column(chunk.times, chunk.count),
        steps=None if chunk.steps is None else _plain_column(chunk.steps, chunk.count),
        values=_plain_column(chunk.values, chunk.count),
    )


def pack_rows(pieces: list[dict[str, list[Any]]], count: int, times: list[Any]) -> Chunk:
    """Pack rows of a table; each piece has columns of one length."""
    for piece in pieces:
        for column in piece.values():
            if not set(map(type, column)) <= _SCALARS:
                raise TypeError("a cell is a number, a string, a bool or null")
            for value in column:
                if _plain(value) is value and value in (math.inf, -math.inf):
                    raise ValueError("an infinite cell is written {'f': 'inf'} or {'f': '-inf'}")
    return Chunk(count, ROWS, _times(times), None, exact_json.dumps(pieces))


def values_of(chunk: Chunk) -> list[Any]:
    """The values, written as in the journal."""
    plain = _values(chunk)
    if chunk.encoding.lower() != FLOATS:
        read: list[Any] = exact_json.loads(plain)
        return read
    numbers = columns.unpacked("d", plain)
    if sum(numbers) - sum(numbers) == 0:  # nothing but finite numbers
        return numbers.tolist()
    return [pack_value(number) for number in numbers]


def rows_of(chunk: Chunk) -> list[dict[str, Any]]:
    """The rows of a table, each as {column: value}."""
    return [
        dict(zip(piece, row, strict=True)) for piece in pieces_of(chunk) for row in zip(*piece.values(), strict=True)
    ]


def pieces_of(chunk: Chunk) -> list[dict[str, list[Any]]]:
    """The rows of a table as they were logged: pieces of columns."""
    read: list[dict[str, list[Any]]] = exact_json.loads(_values(chunk))
    return read


def numbers_of(chunk: Chunk) -> Sequence[float]:
    """The values of a numeric chunk as plain numbers."""
    plain = _values(chunk)
    if chunk.encoding.lower() == FLOATS:
        return columns.unpacked("d", plain)
    return [_plain(value) for value in exact_json.loads(plain)]


def times_of(chunk: Chunk) -> Sequence[float]:
    return columns.unpacked("d", _plain_column(chunk.times, chunk.count) if chunk.is_closed else chunk.times)


def steps_of(chunk: Chunk) -> list[int | None]:
    if chunk.steps is None:
        return [None] * chunk.count
    steps = _steps_of(chunk, chunk.steps)
    return [None if step == NO_STEP else step for step in steps] if NO_STEP in steps else [*steps]


def step_reader(chunk: Chunk) -> Callable[[int], int | None]:
    """Gives single steps of a chunk without unpacking all of them."""
    if chunk.steps is None:
        return lambda at: None
    step = _reader("q", chunk.steps, chunk)
    return lambda at: None if (found := step(at)) == NO_STEP else int(found)


def time_reader(chunk: Chunk) -> Callable[[int], float]:
    """Gives single times of a chunk, best in rising order."""
    return _reader("d", chunk.times, chunk)


@dataclass(frozen=True)
class Ends:
    """The first and the last point of a chunk of floats."""

    values: tuple[float, float]
    times: tuple[float, float]
    steps: tuple[int | None, int | None]


def ends_of(chunk: Chunk) -> Ends | None:
    """The ends of a chunk of floats, without unpacking what is between them; None for one of another kind."""
    if chunk.encoding.lower() != FLOATS:
        return None
    steps: tuple[int | None, int | None] = (None, None)
    if chunk.steps is not None:
        first, last = _ends("q", chunk.steps, chunk.is_closed)
        steps = (None if first == NO_STEP else first, None if last == NO_STEP else last)
    return Ends(_ends("d", chunk.values, chunk.is_closed), _ends("d", chunk.times, chunk.is_closed), steps)


def extremes(numbers: Sequence[float]) -> tuple[float | None, float | None]:
    """The smallest and the largest; NaN counts as neither."""
    if isinstance(numbers, array):
        total = sum(numbers)
        if total == total:
            return min(numbers), max(numbers)
    return _extremes([number for number in numbers if number == number])


def _extremes(numbers: Sequence[float]) -> tuple[float | None, float | None]:
    return (min(numbers), max(numbers)) if numbers else (None, None)


def _plain(value: Any) -> Any:
    if type(value) is dict:
        (kind, text), *more = value.items()
        if kind != "f" or more:
            raise ValueError("an object as a value is {'f': 'nan' | 'inf' | '-inf'}")
        return NON_FINITE[text]
    return value


def _times(times: list[Any]) -> bytes:
    if not set(map(type, times)) <= {int, float}:
        raise TypeError("a time is a number of seconds")
    if math.inf in times or -math.inf in times:
        raise ValueError("a time is a finite number of seconds")
    return columns.packed(array("d", times))


def _steps(steps: list[Any]) -> bytes | None:
    kinds = set(map(type, steps))
    if kinds <= {type(None)}:
        return None
    if not kinds <= {int, type(None)}:
        raise TypeError("a step is a whole number or null")
    return columns.packed(array("q", [NO_STEP if step is None else step for step in steps]))


def _no_steps(count: int) -> bytes:
    return columns.packed(array("q", [NO_STEP])) * count


def _values(chunk: Chunk) -> bytes:
    return _plain_column(chunk.values, chunk.count) if chunk.is_closed else chunk.values


def _steps_of(chunk: Chunk, steps: bytes) -> array[int]:
    return columns.unpacked("q", _plain_column(steps, chunk.count) if chunk.is_closed else steps)


def _plain_column(column: bytes, count: int) -> bytes:
    try:
        return columns.unpack(column, count)
    except ValueError as error:
        raise _damaged(error) from error


def _reader(code: str, column: bytes, chunk: Chunk) -> Callable[[int], Any]:
    if not chunk.is_closed:
        return columns.unpacked(code, column).__getitem__
    try:
        return columns.reader(code, column, chunk.count)
    except (ValueError, struct.error, zlib.error) as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> Damaged:
    return Damaged(
        "database_damaged",
        f"Points of a metric in the database cannot be read: {error}.",
        "Put back a copy of the database, or delete the run that they belong to.",
    )


def _ends(code: str, column: bytes, is_closed: bool) -> tuple[Any, Any]:
    first, last = columns.ends(column) if is_closed else (column[:8], column[-8:])
    return columns.unpacked(code, first)[0], columns.unpacked(code, last)[0]
