"""Expressions over columns of pyarrow, column by column. What pyarrow has no function for is worked out row by row."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from runyard.contracts.data.operations import NUMBER, OPERATIONS, OTHER, TEXT
from runyard.contracts.data.operations import TIME as OF_TIME
from runyard.contracts.data.tables import ARITHMETIC, COMPARISONS
from runyard.sdk.tables.engines.arrow_columns import TIME, is_text
from runyard.sdk.tables.engines.base import ERRORS

_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
    "==": pc.equal,
    "!=": pc.not_equal,
}
_CALCULATE: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
}
_OF_TEXT: Mapping[str, Callable[[Any], Any]] = {
    "to_lower": pc.utf8_lower,
    "to_upper": pc.utf8_upper,
    "length": pc.utf8_length,
}
_WITH_PATTERN: Mapping[str, Callable[[Any, str], Any]] = {
    "starts_with": pc.starts_with,
    "ends_with": pc.ends_with,
    "contains": pc.match_substring,
}


def condition(table: Any, expression: Mapping[str, Any]) -> Any:
    """Whether an expression is true, for each row."""
    return _truth(_value(table, expression), table.num_rows)


def _value(table: Any, expression: Mapping[str, Any]) -> Any:
    """An array, or a scalar that stands for all rows."""
    if "column" in expression:
        name = expression["column"]
        return _comparable(table.column(name)) if name in table.schema.names else pa.scalar(None)
    if "value" in expression:
        return pa.scalar(expression["value"])
    if "time" in expression:
        return pa.scalar(datetime.fromisoformat(expression["time"]), TIME)
    operation = str(expression["op"])
    if operation == "is_error":
        hidden = f"{ERRORS}{expression['of'][0].get('column')}"
        return pc.is_valid(table.column(hidden)) if hidden in table.schema.names else pa.scalar(False)
    of = [_value(table, each) for each in expression["of"]]
    return _applied(operation, of, table.num_rows)


def _comparable(column: Any) -> Any:
    """A column in the type that it is compared in: texts, numbers, times without a zone."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        return pc.cast(column, TIME, safe=False)
    if is_text(column.type) and column.type != pa.string():
        return pc.cast(column, pa.string())
    return pc.cast(column, pa.float64()) if pa.types.is_decimal(column.type) else column


def _applied(operation: str, of: list[Any], rows: int) -> Any:
    if operation in COMPARISONS:
        return _compared(operation, of, rows)
    if operation in ("&", "|"):
        left, right = (_truth(each, rows) for each in of)
        return pc.and_(left, right) if operation == "&" else pc.or_(left, right)
    if operation == "~":
        return pc.invert(_truth(of[0], rows))
    if operation == "is_null":
        return pc.is_null(of[0])
    if operation in ARITHMETIC:
        return _calculated(operation, of, rows)
    if _kind(of[0]) != TEXT:
        return pa.scalar(None)
    if operation in _OF_TEXT:
        return _OF_TEXT[operation](of[0])
    pattern = of[1].as_py() if isinstance(of[1], pa.Scalar) else None
    if operation in _WITH_PATTERN and isinstance(pattern, str) and not isinstance(of[0], pa.Scalar):
        return _WITH_PATTERN[operation](of[0], pattern)
    return _row_by_row(operation, of, rows)


def _kind(value: Any) -> str:
    type = value.type
    if is_text(type):
        return TEXT
    if pa.types.is_boolean(type) or pa.types.is_integer(type) or pa.types.is_floating(type):
        return NUMBER
    return OF_TIME if pa.types.is_timestamp(type) else OTHER


def _compared(operation: str, of: list[Any], rows: int) -> Any:
    left, right = of
    kind = _kind(left)
    if kind == OTHER or kind != _kind(right):
        return pa.scalar(False)
    if kind == NUMBER and left.type != right.type:
        left, right = (_number(each) for each in (left, right))
    try:
        return pc.fill_null(_COMPARE[operation](left, right), False)
    except pa.ArrowInvalid:  # a whole number that no float is equal to
        return _row_by_row(operation, of, rows)


def _number(value: Any) -> Any:
    return pc.cast(value, pa.int8()) if pa.types.is_boolean(value.type) else value


def _calculated(operation: str, of: list[Any], rows: int) -> Any:
    if operation == "+" and all(_kind(each) == TEXT for each in of):
        return pc.binary_join_element_wise(of[0], of[1], "")
    if any(_kind(each) != NUMBER for each in of):
        return pa.scalar(None)
    left, right = (_number(each) for each in of)
    if operation in _CALCULATE:
        try:
            return _CALCULATE[operation](left, right)
        except pa.ArrowInvalid:  # too large for whole numbers
            return _row_by_row(operation, of, rows)
    left, right = (pc.cast(each, pa.float64(), safe=False) for each in (left, right))
    right = pc.if_else(pc.equal(right, 0.0), pa.scalar(None, pa.float64()), right) if operation != "**" else right
    if operation == "/":
        return pc.divide(left, right)
    if operation == "//":
        return pc.floor(pc.divide(left, right))
    if operation == "%":
        return pc.subtract(left, pc.multiply(pc.floor(pc.divide(left, right)), right))
    return _row_by_row(operation, of, rows)


def _row_by_row(operation: str, of: list[Any], rows: int) -> Any:
    lists = [[each.as_py()] * rows if isinstance(each, pa.Scalar) else each.to_pylist() for each in of]
    found = [OPERATIONS[operation](*row) for row in zip(*lists)]
    try:
        return pa.array(found)
    except (OverflowError, pa.ArrowInvalid):  # whole numbers beyond 64 bits, or of both kinds
        return pa.array([None if each is None else float(each) for each in found], pa.float64())


def _truth(value: Any, rows: int) -> Any:
    """True and false for each row: what is null, or no truth, is false."""
    if isinstance(value, pa.Scalar):
        return pa.array([value.as_py() is True] * rows, pa.bool_())
    if not pa.types.is_boolean(value.type):
        return pa.array([False] * rows, pa.bool_())
    return pc.fill_null(value, False)
