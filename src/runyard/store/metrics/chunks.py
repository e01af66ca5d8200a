"""Chunks: many points of a series packed into a few bytes, and back. Nothing here knows the database.

    encoding   values
    d          every value a float: 8 bytes each, little-endian
    n          numbers, whole ones among them: JSON
    j          anything a journal may hold: JSON
    t          rows of a table: JSON, a list of pieces {column: [value, ...]}

Values in JSON are written as in the journal, so that 1, 1.0 and true stay what they are, and NaN survives. Times are
floats and steps are whole numbers of 8 bytes each; `NO_STEP` means none.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from runyard.contracts.journal import NON_FINITE, pack_value
from runyard.store.metrics import exact_json

FLOATS, NUMBERS, ANY, ROWS = "d", "n", "j", "t"
NUMERIC = frozenset({FLOATS, NUMBERS})

NO_STEP = -(2**63)
SMALL = 512
"""A chunk with fewer points takes further ones; a run that logs once a second would make a chunk of each else."""

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

    def joined(self, other: Chunk) -> Chunk:
        """This chunk with the points of another of the same encoding after its own."""
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
        return Chunk(len(values), FLOATS, _times(times), _steps(steps), _bytes(numbers), *extremes(numbers))
    if dict in kinds:
        for value in values:
            _plain(value)
    if math.inf in values or -math.inf in values:  # 1e999, which JSON can read but not write
        raise ValueError("an infinite value is written {'f': 'inf'} or {'f': '-inf'}")
    encoding = NUMBERS if kinds <= {int, float, dict} else ANY
    return Chunk(len(values), encoding, _times(times), _steps(steps), exact_json.dumps(values))


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
    if chunk.encoding != FLOATS:
        read: list[Any] = exact_json.loads(chunk.values)
        return read
    numbers = _array("d", chunk.values)
    if sum(numbers) - sum(numbers) == 0:  # nothing but finite numbers
        return numbers.tolist()
    return [pack_value(number) for number in numbers]


def rows_of(chunk: Chunk) -> list[dict[str, Any]]:
    """The rows of a table, each as {column: value}."""
    return [
        dict(zip(piece, row, strict=True))
        for piece in exact_json.loads(chunk.values)
        for row in zip(*piece.values(), strict=True)
    ]


def numbers_of(chunk: Chunk) -> Sequence[float]:
    """The values of a numeric chunk as plain numbers."""
    if chunk.encoding == FLOATS:
        return _array("d", chunk.values)
    return [_plain(value) for value in exact_json.loads(chunk.values)]


def times_of(chunk: Chunk) -> Sequence[float]:
    return _array("d", chunk.times)


def steps_of(chunk: Chunk) -> list[int | None]:
    if chunk.steps is None:
        return [None] * chunk.count
    return [None if step == NO_STEP else step for step in _array("q", chunk.steps)]


def step_reader(chunk: Chunk) -> Callable[[int], int | None]:
    """Gives single steps of a chunk without unpacking all of them."""
    if chunk.steps is None:
        return lambda at: None
    steps = _array("q", chunk.steps)
    return lambda at: None if steps[at] == NO_STEP else int(steps[at])


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
    return _bytes(array("d", times))


def _steps(steps: list[Any]) -> bytes | None:
    kinds = set(map(type, steps))
    if kinds <= {type(None)}:
        return None
    if not kinds <= {int, type(None)}:
        raise TypeError("a step is a whole number or null")
    return _bytes(array("q", [NO_STEP if step is None else step for step in steps]))


def _no_steps(count: int) -> bytes:
    return _bytes(array("q", [NO_STEP])) * count


def _bytes(numbers: array[Any]) -> bytes:
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def _array(code: str, packed: bytes) -> array[Any]:
    numbers: array[Any] = array(code)
    numbers.frombytes(packed)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
