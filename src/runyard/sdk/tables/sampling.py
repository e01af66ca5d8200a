"""Which rows a sample has: by a hash of the seed and the row's position, so that rows can stream by.

The same seed takes the same rows, on every machine, with numpy or without; what one half of a split leaves out is the
other half.
"""

from __future__ import annotations

from typing import Any, Sequence

_ALL = (1 << 64) - 1
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def taken(seed: int, begin: int, count: int, probability: float, rest: bool) -> Sequence[bool]:
    """Whether each row from a position on is taken; with `rest`, whether it is left out.

    >>> first = list(taken(7, 0, 10, 0.5, False))
    >>> first == [not each for each in taken(7, 0, 10, 0.5, True)] == list(taken(7, 0, 5, 0.5, False)) + list(
    ...     taken(7, 5, 5, 0.5, False)
    ... )
    True
    """
    limit = min(int(probability * (1 << 53)), 1 << 53)
    try:
        import numpy
    except ImportError:
        return [(_mixed(seed, position) >> 11 < limit) != rest for position in range(begin, begin + count)]
    found: Any = _mixed_array(numpy, seed, begin, count) >> numpy.uint64(11)
    chosen = found < numpy.uint64(limit)
    return ~chosen if rest else chosen  # type: ignore[no-any-return]


def _mixed(seed: int, position: int) -> int:
    """SplitMix64 at a position of the sequence that a seed begins."""
    value = (_scrambled(seed) + (position + 1) * _STEP) & _ALL
    return _finished(value)


def _scrambled(seed: int) -> int:
    return _finished((seed * _STEP + _FIRST) & _ALL)


def _finished(value: int) -> int:
    value = ((value ^ (value >> 30)) * _FIRST) & _ALL
    value = ((value ^ (value >> 27)) * _SECOND) & _ALL
    return value ^ (value >> 31)


def _mixed_array(numpy: Any, seed: int, begin: int, count: int) -> Any:
    unsigned = numpy.uint64
    with numpy.errstate(over="ignore"):
        positions = numpy.arange(begin + 1, begin + count + 1, dtype=unsigned)
        value = unsigned(_scrambled(seed)) + positions * unsigned(_STEP)
        value = (value ^ (value >> unsigned(30))) * unsigned(_FIRST)
        value = (value ^ (value >> unsigned(27))) * unsigned(_SECOND)
        return value ^ (value >> unsigned(31))
