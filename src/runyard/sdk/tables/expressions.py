"""Expressions over columns, for `filter`: `dataset['age'] > 30`. They are data; engines work them out.

Null is in no comparison: `dataset['x'] != 3` leaves out the rows in which `x` is null. So is a number compared with a
text.
"""

from __future__ import annotations

from datetime import date, datetime, timezone
from typing import Any, Mapping, NoReturn

from runyard.contracts.data import datasets as contract
from runyard.contracts.data import tables


class RecordExpression:
    """A value per row. Combine conditions with `&`, `|` and `~`.

    >>> expression = (column("age") > 30) & ~column("name").contains("x")
    >>> expression.document["op"]
    '&'
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = dict(document)

    def __lt__(self, other: object) -> RecordExpression:
        return self._with("<", other)

    def __le__(self, other: object) -> RecordExpression:
        return self._with("<=", other)

    def __gt__(self, other: object) -> RecordExpression:
        return self._with(">", other)

    def __ge__(self, other: object) -> RecordExpression:
        return self._with(">=", other)

    def __eq__(self, other: object) -> RecordExpression:  # type: ignore[override]
        return self._with("==", other)

    def __ne__(self, other: object) -> RecordExpression:  # type: ignore[override]
        return self._with("!=", other)

    def __and__(self, other: object) -> RecordExpression:
        return self._with("&", other)

    def __rand__(self, other: object) -> RecordExpression:
        return _value(other)._with("&", self)

    def __or__(self, other: object) -> RecordExpression:
        return self._with("|", other)

    def __ror__(self, other: object) -> RecordExpression:
        return _value(other)._with("|", self)

    def __invert__(self) -> RecordExpression:
        return self._with("~")

    def __add__(self, other: object) -> RecordExpression:
        return self._with("+", other)

    def __radd__(self, other: object) -> RecordExpression:
        return _value(other)._with("+", self)

    def __sub__(self, other: object) -> RecordExpression:
        return self._with("-", other)

    def __rsub__(self, other: object) -> RecordExpression:
        return _value(other)._with("-", self)

    def __mul__(self, other: object) -> RecordExpression:
        return self._with("*", other)

    def __rmul__(self, other: object) -> RecordExpression:
        return _value(other)._with("*", self)

    def __truediv__(self, other: object) -> RecordExpression:
        return self._with("/", other)

    def __rtruediv__(self, other: object) -> RecordExpression:
        return _value(other)._with("/", self)

    def __floordiv__(self, other: object) -> RecordExpression:
        return self._with("//", other)

    def __mod__(self, other: object) -> RecordExpression:
        return self._with("%", other)

    def __pow__(self, other: object) -> RecordExpression:
        return self._with("**", other)

    def is_null(self) -> RecordExpression:
        return self._with("is_null")

    def is_error(self) -> RecordExpression:
        """Whether a text did not fit the type of its column."""
        return self._with("is_error")

    def starts_with(self, value: object) -> RecordExpression:
        return self._with("starts_with", value)

    def ends_with(self, value: object) -> RecordExpression:
        return self._with("ends_with", value)

    def contains(self, value: object) -> RecordExpression:
        return self._with("contains", value)

    def to_lower(self) -> RecordExpression:
        return self._with("to_lower")

    def to_upper(self) -> RecordExpression:
        return self._with("to_upper")

    def length(self) -> RecordExpression:
        return self._with("length")

    def substring(self, start: int, length: int | None = None) -> RecordExpression:
        return self._with("substring", start, length)

    def index_of(self, value: object) -> RecordExpression:
        """Where a text is first found, from 0 on; -1 when it is not."""
        return self._with("index_of", value)

    def __bool__(self) -> NoReturn:
        raise RuntimeError(
            "An expression over columns is true or false for each row, not by itself: combine expressions with "
            "& | ~ (in brackets), not with `and`, `or`, `not`, `if`."
        )

    def __repr__(self) -> str:
        return f"RecordExpression({_words(self.document)})"

    def _with(self, operation: str, *others: object) -> RecordExpression:
        made = {"op": operation, "of": [self.document, *(_value(each).document for each in others)]}
        try:
            tables.check_expression(made)
        except contract.BadDefinition as error:
            raise ValueError(str(error)) from None
        return RecordExpression(made)


def column(name: object) -> RecordExpression:
    """The column of a name; TypeError when it is none."""
    if not isinstance(name, str):
        raise TypeError(f"A column is named by a text: dataset['age'], not {name!r}.")
    return RecordExpression({"column": name})


def columns_of(document: Mapping[str, Any]) -> set[str]:
    """The columns that an expression reads.

    >>> sorted(columns_of((column("a") + column("b") > 1).document))
    ['a', 'b']
    """
    if "column" in document:
        return {str(document["column"])}
    return {name for each in document.get("of", ()) for name in columns_of(each)}


def columns_with_errors(document: Mapping[str, Any]) -> set[str]:
    """The columns of which an expression asks for texts that did not fit."""
    if document.get("op") == "is_error":
        return columns_of(document)
    return {name for each in document.get("of", ()) for name in columns_with_errors(each)}


def _value(value: object) -> RecordExpression:
    if isinstance(value, RecordExpression):
        return value
    if isinstance(value, datetime):
        plain = value if value.tzinfo is None else value.astimezone(timezone.utc).replace(tzinfo=None)
        return RecordExpression({"time": plain.isoformat()})
    if isinstance(value, date):
        return RecordExpression({"time": datetime(value.year, value.month, value.day).isoformat()})
    item = getattr(value, "item", None)  # numbers of numpy
    found = item() if callable(item) and not isinstance(value, (str, int, float)) else value
    if found is not None and not isinstance(found, (bool, int, float, str)):
        raise TypeError(f"A column is compared with a number, a text, a date or another column, not {value!r}.")
    return RecordExpression({"value": found})


def _words(document: Mapping[str, Any]) -> str:
    if "op" not in document:
        return repr(next(iter(document.values())))
    of = [_words(each) for each in document["of"]]
    operation = str(document["op"])
    if operation == "~":
        return f"~{of[0]}"
    if operation.isidentifier():
        return f"{of[0]}.{operation}({', '.join(of[1:])})"
    return f"({of[0]} {operation} {of[1]})"
