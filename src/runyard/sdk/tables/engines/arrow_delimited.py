"""Delimited files through pyarrow, as fast as the file allows.

Three ways, each for what the one before cannot read: pyarrow with the types of the columns; pyarrow with texts, which
are turned into the types here, so that a text that does not fit is null; line by line, for records that are longer or
shorter than the header, or broken by a quote. A way that gives up hands over at the row that it has come to.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from runyard.contracts.data.tables import BOOL, DATETIME, FLOAT, INT, ISO
from runyard.sdk.tables.column_types import FALSE, TRUE
from runyard.sdk.tables.engines.arrow_columns import TIME, TYPES, from_texts, is_text
from runyard.sdk.tables.engines.base import ERRORS
from runyard.sdk.tables.engines.settings import ReadFile, careful_batches

BLOCK = 1 << 22
WHOLE_BLOCK = 1 << 22
TAIL = 1 << 20


def read(file: ReadFile) -> Iterator[Any]:
    """The rows of a file as tables."""
    given = 0
    ways: tuple[Callable[[ReadFile, int], Iterator[Any]], ...] = (_typed, _as_texts, _carefully)
    if not file.dialect.separator.isascii() or _ends_in_a_quote(file):
        ways = ways[2:]
    elif file.errors or file.fail:
        ways = ways[1:]
    for number, way in enumerate(ways, 1):
        try:
            for table in way(file, given):
                given += table.num_rows
                yield table
            return
        except (pa.ArrowException, UnicodeError, _Broken):
            if number == len(ways):
                raise


def _ends_in_a_quote(file: ReadFile) -> bool:
    """Whether the last line opens a quote that nothing closes: pyarrow would take the quote away."""
    with file.path.open("rb") as opened:
        opened.seek(max(0, file.path.stat().st_size - TAIL))
        last = opened.read().rstrip(b"\r\n")
    return bool(last[max(last.rfind(b"\n"), last.rfind(b"\r")) + 1 :].count(b'"') % 2)


class _Broken(Exception):
    """A value holds a line break, which ends a record here."""


def _typed(file: ReadFile, skipped: int) -> Iterator[Any]:
    """With the types of pyarrow. Dates in other formats than ISO, and numbers with a comma, come as texts."""
    direct = {name: _direct(file, name) for name in file.names}
    types = {name: type if type is not None else pa.string() for name, type in direct.items()}
    for table in _read(file, types, skipped):
        yield _turned(file, table)


def _as_texts(file: ReadFile, skipped: int) -> Iterator[Any]:
    for table in _read(file, {name: pa.string() for name in file.names}, skipped):
        yield _turned(file, table)


def _carefully(file: ReadFile, skipped: int) -> Iterator[Any]:
    for names, columns in careful_batches(file, skipped):
        arrays = [pa.array(texts, pa.string()) for texts in columns]
        length = len(columns[0]) if columns else 0
        table = pa.table(arrays, names=names) if names else no_columns(length)
        yield _turned(file, table)


def _direct(file: ReadFile, name: str) -> Any:
    """The type that pyarrow itself can read a column with; None when it cannot."""
    type = file.type_of(name)
    if type["type"] in (INT, BOOL) or (type["type"] == FLOAT and type.get("decimal_mark", ".") == "."):
        return TYPES[type["type"]]
    if type["type"] == DATETIME and list(type.get("formats") or (ISO,)) == [ISO]:
        return TIME
    return None


def _turned(file: ReadFile, table: Any) -> Any:
    """The table with texts turned into the types of their columns, and the hidden columns that are asked for."""
    hidden = {}
    for number, name in enumerate(table.schema.names):
        column = table.column(number)
        type = file.type_of(name)
        if is_text(column.type) and not is_text(TYPES[type["type"]]):
            values, errors = from_texts(column, type, name, file.failing)
            table = table.set_column(number, name, values)
            if name in file.errors:
                hidden[ERRORS + name] = errors if errors is not None else pa.nulls(table.num_rows, pa.string())
    for name, column in hidden.items():
        table = table.append_column(name, column)
    return table


def _read(file: ReadFile, types: dict[str, Any], skipped: int) -> Iterator[Any]:
    included = [name for name in file.names if file.is_needed(name)]
    # With no column to read pyarrow would read all: one is read for the number of rows, and left out below.
    options = csv.ConvertOptions(
        column_types=types,
        include_columns=included or list(file.names[:1]),
        null_values=[] if file.empty_as_string else [""],
        strings_can_be_null=not file.empty_as_string,
        true_values=[*TRUE, "1"],
        false_values=[*FALSE, "0"],
        timestamp_parsers=[csv.ISO8601],
    )
    reading = csv.ReadOptions(
        column_names=list(file.names),
        skip_rows=file.header_line,
        block_size=WHOLE_BLOCK if file.whole else BLOCK,
        encoding=_codec(file),
    )
    parsing = csv.ParseOptions(delimiter=file.dialect.separator, newlines_in_values=file.dialect.multi_line)
    for table in _tables(file, reading, parsing, options):
        if skipped >= table.num_rows:
            skipped -= table.num_rows
            continue
        table = table.slice(skipped)
        skipped = 0
        if not file.dialect.multi_line and _has_breaks(table):
            raise _Broken("a value holds a line break")
        yield table if included else no_columns(table.num_rows)


def _tables(file: ReadFile, reading: Any, parsing: Any, options: Any) -> Iterator[Any]:
    if file.whole:
        yield csv.read_csv(str(file.path), reading, parsing, options)
        return
    with csv.open_csv(str(file.path), reading, parsing, options) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _codec(file: ReadFile) -> str:
    return "utf8" if file.dialect.codec == "utf-8-sig" else file.dialect.codec


def _has_breaks(table: Any) -> bool:
    """Whether a text may hold a line break. A slice is looked at with what it was cut from, which costs no row."""
    return any(_has(column, mark) for column in table.columns if is_text(column.type) for mark in "\n\r")


def _has(column: Any, mark: str) -> bool:
    """Whether a column of texts holds a character, by its bytes where numpy is there to look at them."""
    try:
        import numpy
    except ImportError:
        return bool(pc.any(pc.match_substring(column, mark)).as_py())
    held = (chunk.buffers()[2] for chunk in column.chunks)
    return any((numpy.frombuffer(each, numpy.uint8) == ord(mark)).any() for each in held if each is not None)


def no_columns(rows: int) -> Any:
    """A table of rows without columns: pyarrow has none, so that one hidden column stands for them."""
    return pa.table({ERRORS: pa.nulls(rows)})
