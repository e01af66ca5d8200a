"""What each operation of an expression gives for the values of one row. Standard library only.

Engines that work on whole columns must give the same.
"""

from __future__ import annotations

import math
import operator
from datetime import date, datetime, timezone
from typing import Any, Callable, Mapping

NUMBER, TEXT, TIME, OTHER = "number", "text", "time", "other"


def kind_of(value: object) -> str:
    """
    >>> kind_of(True), kind_of("x"), kind_of([1])
    ('number', 'text', 'other')
    """
    if isinstance(value, (bool, int, float)):
        return NUMBER
    if isinstance(value, str):
        return TEXT
    return TIME if isinstance(value, (date, datetime)) else OTHER


def is_true(value: object) -> bool:
    return value is True


def _compared(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def of(left: object, right: object) -> bool:
        kind = kind_of(left)
        if left is None or right is None or kind == OTHER or kind != kind_of(right):
            return False
        return bool(compare(_plain(left), _plain(right)))

    return of


def _plain(value: Any) -> Any:
    """A time without a zone, in UTC; other values as they are."""
    if isinstance(value, datetime):
        return value if value.tzinfo is None else value.astimezone(timezone.utc).replace(tzinfo=None)
    return datetime(value.year, value.month, value.day) if isinstance(value, date) else value


def _calculated(calculate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def of(left: object, right: object) -> Any:
        if kind_of(left) != NUMBER or kind_of(right) != NUMBER:
            return None
        try:
            found = calculate(left, right)
        except (ArithmeticError, ValueError):
            return None
        return found if isinstance(found, (int, float)) else None

    return of


def _added(left: object, right: object) -> Any:
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    return _calculated(operator.add)(left, right)


def _of_text(function: Callable[..., Any]) -> Callable[..., Any]:
    def of(text: object, *arguments: object) -> Any:
        if not isinstance(text, str):
            return None
        return function(text, *arguments)

    return of


def _of_texts(function: Callable[[str, str], Any]) -> Callable[[object, object], Any]:
    def of(text: object, other: object) -> Any:
        return function(text, other) if isinstance(text, str) and isinstance(other, str) else None

    return of


def _substring(text: str, start: object, length: object) -> str | None:
    if not isinstance(start, int) or start < 0 or not (length is None or (isinstance(length, int) and length >= 0)):
        return None
    return text[start:] if length is None else text[start : start + length]


def _floor(left: float, right: float) -> float:
    return float(math.floor(left / right))


OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "<": _compared(operator.lt),
    "<=": _compared(operator.le),
    ">": _compared(operator.gt),
    ">=": _compared(operator.ge),
    "==": _compared(operator.eq),
    "!=": _compared(operator.ne),
    "&": lambda left, right: is_true(left) and is_true(right),
    "|": lambda left, right: is_true(left) or is_true(right),
    "~": lambda value: not is_true(value),
    "+": _added,
    "-": _calculated(operator.sub),
    "*": _calculated(operator.mul),
    "/": _calculated(operator.truediv),
    "//": _calculated(_floor),
    "%": _calculated(lambda left, right: left - _floor(left, right) * right),
    "**": _calculated(lambda left, right: float(left) ** float(right)),
    "is_null": lambda value: value is None,
    "is_error": lambda value: value is True,
    "to_lower": _of_text(str.lower),
    "to_upper": _of_text(str.upper),
    "length": _of_text(len),
    "starts_with": _of_texts(str.startswith),
    "ends_with": _of_texts(str.endswith),
    "contains": _of_texts(lambda text, other: other in text),
    "index_of": _of_texts(str.find),
    "substring": _of_text(_substring),
}
