"""Types of columns: which one a column of texts has, and the value of a text under a type. Standard library only.

A text that does not fit its type is an error, which becomes null unless the reader was told to fail.
"""

from __future__ import annotations

import math
import re
import warnings
from datetime import datetime, timedelta
from typing import Any, Callable, Iterable, Mapping, Sequence

from runyard.contracts.data.tables import BOOL, DATETIME, FLOAT, INT, ISO, STRING

SAMPLED = 200
"""Rows that types are inferred from, as SDK v1 does."""

TRUE = ("true", "True", "TRUE", "T", "t", "Y", "Yes", "YES")
FALSE = ("false", "False", "FALSE", "F", "f", "N", "No", "NO")
MONTH_FIRST = ("%m/%d/%Y", "%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M:%S %p")
DAY_FIRST = ("%d/%m/%Y", "%d/%m/%Y %I:%M %p", "%d/%m/%Y %I:%M:%S %p")
OTHER_DATES = ("%Y/%m/%d", "%d-%b-%Y")

Type = Mapping[str, Any]
"""A type as a definition has it: `{"type": "datetime", "formats": ["iso"]}`."""

_INT = re.compile(r"[ \t]*([+-]?)0*(\d{1,19})[ \t]*", re.ASCII)
_DIGITS = re.compile(r"[ \t]*[+-]?\d+[ \t]*", re.ASCII)
_FLOAT = re.compile(r"[ \t]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[ \t]*", re.ASCII)
_NOT_FINITE = re.compile(r"[ \t]*[+-]?(?:inf|infinity|nan)[ \t]*", re.ASCII | re.IGNORECASE)
_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)  # what a column of dates is told by
_ISO_PARTS = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:\.(\d{1,9}))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII
)  # what is read in such a column: pyarrow takes the same
_SLASHES = re.compile(r"\d{1,2}/\d{1,2}/\d{4}(?: \d{1,2}:\d\d(?::\d\d)? [AaPp][Mm])?", re.ASCII)
_BY_MONTH_NAME = re.compile(r"\d{1,2}-[A-Za-z]{3}-\d{4}", re.ASCII)
_YEAR_FIRST = re.compile(r"\d{4}/\d{1,2}/\d{1,2}", re.ASCII)

_LARGEST = (1 << 63) - 1


class NoFit(ValueError):
    """A text that is no value of its column's type."""


def infer(values: Iterable[str | None], name: str = "") -> dict[str, Any]:
    """The type of a column, by its first values. Null says nothing; with no other value a column is text.

    >>> infer(["1", None, "-7"]), infer(["0.5", "2"]), infer(["true", "0"])
    ({'type': 'int'}, {'type': 'float'}, {'type': 'bool'})
    >>> infer(["2020-01-02", "2020-01-03T10:00:00Z"])
    {'type': 'datetime', 'formats': ['iso']}
    >>> infer(["NA", "1"]), infer(["0", "1"])
    ({'type': 'string'}, {'type': 'int'})
    """
    seen = {value for value in values if value is not None}
    if not seen:
        return {"type": STRING}
    words = {*TRUE, *FALSE}
    # A column of nothing but 0 and 1 is a number: labels and flags are counted and multiplied in scripts.
    if seen <= words | {"0", "1"} and seen & words:
        return {"type": BOOL}
    if all(_DIGITS.fullmatch(value) for value in seen):
        return {"type": INT if all(_fits(value) for value in seen) else FLOAT}
    if all(_FLOAT.fullmatch(value) or _NOT_FINITE.fullmatch(value) for value in seen):
        return {"type": FLOAT}
    formats = _date_formats(seen, name)
    return {"type": DATETIME, "formats": formats} if formats else {"type": STRING}


def _fits(value: str) -> bool:
    try:
        to_int(value)
    except NoFit:
        return False
    return True


def _date_formats(seen: Iterable[str], name: str) -> list[str]:
    """The formats of a column in which every value is a date, else none."""
    formats: list[str] = []
    slashes: list[str] = []
    for value in seen:
        if _SLASHES.fullmatch(value):
            slashes.append(value)
            continue
        one = ISO if _ISO.fullmatch(value) else None
        one = "%Y/%m/%d" if _YEAR_FIRST.fullmatch(value) else one
        one = "%d-%b-%Y" if _BY_MONTH_NAME.fullmatch(value) else one
        if one is None or _date(value, one) is None:
            return []
        if one not in formats:
            formats.append(one)
    if slashes:
        chosen = _slash_formats(slashes, name)
        if not chosen:
            return []
        formats += chosen
    return sorted(formats, key=_ORDER.index)


_ORDER = (ISO, *OTHER_DATES, *MONTH_FIRST, *DAY_FIRST)


def _slash_formats(values: Sequence[str], name: str) -> list[str]:
    """Month first or day first, whichever fits all values; both where only both together do."""
    month = [_first(value, MONTH_FIRST) is not None for value in values]
    day = [_first(value, DAY_FIRST) is not None for value in values]
    if all(month):
        if all(day) and any(_first(value, MONTH_FIRST) != _first(value, DAY_FIRST) for value in values):
            warnings.warn(
                f"The dates of the column {name!r} may be month first or day first: they are read month first. "
                f"set_column_types={{{name!r}: DataType.to_datetime('%d/%m/%Y')}} reads them day first.",
                stacklevel=2,
            )
        return _used(values, MONTH_FIRST)
    if all(day):
        return _used(values, DAY_FIRST)
    if all(one or other for one, other in zip(month, day)):
        return _used(values, MONTH_FIRST) + _used(values, DAY_FIRST)
    return []


def _used(values: Sequence[str], formats: Sequence[str]) -> list[str]:
    return [each for each in formats if any(_date(value, each) is not None for value in values)]


def _first(value: str, formats: Sequence[str]) -> datetime | None:
    return next((found for found in (_date(value, each) for each in formats) if found is not None), None)


# -- from a text to a value -------------------------------------------------------------------------------------------


def converter(type: Type) -> Callable[[str], Any]:
    """What makes a value of a text; NoFit when it is none.

    >>> converter({"type": "int"})(" 007 "), converter({"type": "bool"})("No")
    (7, False)
    """
    kind = type["type"]
    if kind == FLOAT and type.get("decimal_mark", ".") != ".":
        return lambda text: to_float(text.replace(".", "").replace(str(type["decimal_mark"]), "."))
    if kind == DATETIME:
        formats = list(type.get("formats") or (ISO,))
        return lambda text: to_datetime(text, formats)
    return _CONVERTERS.get(kind, str)


def to_int(text: str) -> int:
    """
    >>> to_int("+12"), to_int("1.9")
    (12, 1)
    """
    found = _INT.fullmatch(text)
    if found:
        number = int(found[1] + found[2])
    elif _FLOAT.fullmatch(text):
        value = float(text)
        if not math.isfinite(value):
            raise NoFit(text)
        number = int(value)
    else:
        raise NoFit(text)
    if not -_LARGEST - 1 <= number <= _LARGEST:
        raise NoFit(text)
    return number


def to_float(text: str) -> float:
    """
    >>> to_float(".5"), to_float("Infinity")
    (0.5, inf)
    """
    if not _FLOAT.fullmatch(text) and not _NOT_FINITE.fullmatch(text):
        raise NoFit(text)
    return float(text)


def to_bool(text: str) -> bool:
    if text in TRUE or text == "1":
        return True
    if text in FALSE or text == "0":
        return False
    raise NoFit(text)


_CONVERTERS: Mapping[str, Callable[[str], Any]] = {STRING: str, INT: to_int, FLOAT: to_float, BOOL: to_bool}


def to_datetime(text: str, formats: Sequence[str]) -> datetime:
    """A time without a zone; what has one is turned to UTC.

    >>> to_datetime("2020-01-02T03:04:05.5+01:00", ["iso"])
    datetime.datetime(2020, 1, 2, 2, 4, 5, 500000)
    """
    found = _first(text, formats)
    if found is None:
        raise NoFit(text)
    return found


def _date(text: str, format: str) -> datetime | None:
    try:
        if format == ISO:
            return _iso(text)
        found = datetime.strptime(text, format)
        offset = found.utcoffset()
        return found if offset is None else found.replace(tzinfo=None) - offset
    except (ValueError, OverflowError):
        return None


def _iso(text: str) -> datetime | None:
    found = _ISO_PARTS.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    micro = int((fraction or "0").ljust(6, "0")[:6])
    made = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), micro)
    if zone in (None, "Z"):
        return made
    minutes = int(zone[1:3]) * 60 + int(zone[3:].lstrip(":") or 0)
    return made - timedelta(minutes=minutes if zone[0] == "+" else -minutes)
