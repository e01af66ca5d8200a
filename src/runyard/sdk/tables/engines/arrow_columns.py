"""Columns of pyarrow: texts turned into a type, values of Python, and batches of different columns joined.

Most columns fit their type, and are turned as a whole. Where a text does not fit, or a type has rules that pyarrow does
not know, each distinct text is turned by `column_types`, so that all engines agree.
"""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from runyard.contracts.data.tables import BOOL, DATETIME, FLOAT, INT, ISO, STREAM, STRING
from runyard.sdk.tables.column_types import NoFit, Type, converter
from runyard.sdk.tables.engines.plain import no_fit

TIME = pa.timestamp("us")
TYPES: Mapping[str, Any] = {
    STRING: pa.string(),
    STREAM: pa.string(),
    INT: pa.int64(),
    FLOAT: pa.float64(),
    BOOL: pa.bool_(),
    DATETIME: TIME,
}
OF_JSON = {b"runyard": b"json"}
"""The metadata of a field that holds JSON texts, because its values are of several types, or nested."""


def is_text(type: Any) -> bool:
    return bool(pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type))


def from_texts(texts: Any, type: Type, name: str, fail: str | None) -> tuple[Any, Any]:
    """The values of a column of texts under a type, and the texts that did not fit (or None, if all did)."""
    wanted = TYPES[type["type"]]
    if is_text(wanted):
        return texts, None
    made = _as_a_whole(texts, type)
    if made is not None:
        return made, None
    chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    pairs = [_one_by_one(chunk, type, name, fail) for chunk in chunks]
    return (
        pa.chunked_array([value for value, _ in pairs], wanted),
        pa.chunked_array([error for _, error in pairs], pa.string()),
    )


def _as_a_whole(texts: Any, type: Type) -> Any:
    """The column in its type, if pyarrow can turn all of it as SDK v1 would."""
    try:
        if type["type"] == INT:
            return pc.cast(texts, pa.int64())
        if type["type"] == FLOAT and type.get("decimal_mark", ".") == ".":
            return pc.cast(texts, pa.float64())
        if type["type"] == DATETIME:
            formats = list(type.get("formats") or (ISO,))
            if formats == [ISO]:
                return _iso(texts)
            if len(formats) == 1 and "%f" not in formats[0] and "%z" not in formats[0]:
                return pc.strptime(texts, format=formats[0], unit="us")
    except pa.ArrowInvalid:
        pass
    return None


def _iso(texts: Any) -> Any:
    try:
        return pc.cast(texts, TIME)
    except pa.ArrowInvalid:
        return pc.cast(pc.cast(texts, pa.timestamp("us", "UTC")), TIME)


def _one_by_one(texts: Any, type: Type, name: str, fail: str | None) -> tuple[Any, Any]:
    encoded = texts.dictionary_encode()
    convert = converter(type)
    values: list[Any] = []
    errors: list[str | None] = []
    for text in encoded.dictionary.to_pylist():
        try:
            values.append(convert(text))
            errors.append(None)
        except NoFit:
            if fail is not None:
                raise no_fit(fail, name, text, type) from None
            values.append(None)
            errors.append(text or None)
    wanted = TYPES[type["type"]]
    return (
        pa.array(values, wanted).take(encoded.indices),
        pa.array(errors, pa.string()).take(encoded.indices),
    )


def as_texts(column: Any) -> Any:
    """A column of any type as texts."""
    if is_text(column.type):
        return column
    if pa.types.is_boolean(column.type):
        return pc.if_else(column, "True", "False")
    try:
        return pc.cast(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([_json(value) for value in column.to_pylist()], pa.string())


# -- from Python values -----------------------------------------------------------------------------------------------


def of_values(name: str, values: Sequence[Any]) -> tuple[Any, Any]:
    """The field and the column of Python values. Values of several types, and nested ones, become JSON texts."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and float in kinds:
        return pa.field(name, pa.float64()), pa.array([_float(value) for value in values], pa.float64())
    if kinds <= {date, datetime} and datetime in kinds and len(kinds) == 1:
        return pa.field(name, TIME), pa.array([_naive(value) for value in values], TIME)
    if not kinds or (len(kinds) == 1 and kinds <= {bool, int, str, bytes, date, Decimal}):
        try:
            made = pa.array(values)
            return pa.field(name, made.type), made
        except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError):
            pass
    return pa.field(name, pa.string(), metadata=OF_JSON), pa.array([_json(value) for value in values], pa.string())


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


def _naive(value: datetime | None) -> datetime | None:
    offset = None if value is None else value.utcoffset()
    return value if value is None or offset is None else value.replace(tzinfo=None) - offset


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, default=str)


# -- joining ----------------------------------------------------------------------------------------------------------


def joined(batches: Sequence[Any]) -> Any:
    """One table of batches whose columns may differ: all columns, null where a batch lacks one."""
    tables = [each if isinstance(each, pa.Table) else pa.Table.from_batches([each]) for each in batches]
    if all(each.schema.equals(tables[0].schema, check_metadata=True) for each in tables):
        return pa.concat_tables(tables)
    names = list(dict.fromkeys(name for each in tables for name in each.schema.names))
    fields = [
        _common(name, [each.schema.field(name) for each in tables if name in each.schema.names]) for name in names
    ]
    return pa.concat_tables([_as(each, fields) for each in tables])


def _common(name: str, fields: Sequence[Any]) -> Any:
    """A field that holds the values of all."""
    told = [field for field in fields if not pa.types.is_null(field.type)]
    if not told:
        return fields[0]
    types = [field.type for field in told]
    json_fields = [field for field in told if field.metadata == OF_JSON]
    if json_fields:
        return json_fields[0]
    if all(type == types[0] for type in types):
        return told[0].with_nullable(True)
    if all(pa.types.is_integer(type) for type in types):
        return pa.field(name, pa.int64())
    if all(pa.types.is_integer(type) or pa.types.is_floating(type) for type in types):
        return pa.field(name, pa.float64())
    if all(pa.types.is_timestamp(type) or pa.types.is_date(type) for type in types):
        return pa.field(name, TIME)
    return pa.field(name, pa.string(), metadata=OF_JSON)


def _as(table: Any, fields: Sequence[Any]) -> Any:
    columns = []
    for field in fields:
        if field.name not in table.schema.names:
            columns.append(pa.nulls(table.num_rows, field.type))
            continue
        column = table.column(field.name)
        if field.metadata == OF_JSON and table.schema.field(field.name).metadata != OF_JSON:
            column = pa.array([_json(value) for value in column.to_pylist()], pa.string())
        elif column.type != field.type:
            column = pc.cast(column, field.type, safe=False)
        columns.append(column)
    return pa.table(columns, schema=pa.schema(list(fields)))
