"""The engine on pyarrow: batches are tables of it, and files are read by its readers."""

from __future__ import annotations

import json
from typing import Any, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from runyard.sdk.tables.column_types import Type
from runyard.sdk.tables.engines import arrow_delimited, arrow_expressions
from runyard.sdk.tables.engines.arrow_columns import (
    OF_JSON,
    TIME,
    TYPES,
    as_texts,
    from_texts,
    is_text,
    joined,
    of_values,
)
from runyard.sdk.tables.engines.base import ERRORS, Engine
from runyard.sdk.tables.engines.plain import time_out_of_range
from runyard.sdk.tables.engines.settings import ReadFile
from runyard.sdk.tables.problem import TableProblem, needs

ROWS = 65_536
_FIRST, _LAST = -(1 << 63) // 1000 + 1, ((1 << 63) - 1) // 1000
"""Microseconds that are times in nanoseconds as well."""


class ArrowEngine(Engine[Any]):
    """Rows in tables of pyarrow."""

    def delimited(self, file: ReadFile) -> Iterator[Any]:
        return arrow_delimited.read(file)

    def parquet(self, file: ReadFile) -> Iterator[Any]:
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(str(file.path)) as source:
                names = source.schema_arrow.names
                wanted = [name for name in names if file.is_needed(name)]
                if not wanted and names:
                    yield arrow_delimited.no_columns(source.metadata.num_rows)
                elif file.whole:
                    yield self._typed(source.read(wanted, use_pandas_metadata=False), file)
                else:
                    for batch in source.iter_batches(ROWS, columns=wanted):
                        yield self._typed(pa.Table.from_batches([batch]), file)
        except (pa.ArrowException, OSError) as error:
            raise TableProblem(f"{file.name} cannot be read as Parquet: {error}") from None

    def _typed(self, table: Any, file: ReadFile) -> Any:
        made = self.converted(table.replace_schema_metadata(None), file.types, file.failing)
        for name in file.errors & set(table.schema.names):
            made = made.append_column(ERRORS + name, pa.nulls(made.num_rows, pa.string()))
        return made

    def of_values(self, names: Sequence[str], columns: Mapping[str, list[Any]], length: int) -> Any:
        if not names:
            return arrow_delimited.no_columns(length)
        made = [of_values(name, columns[name]) for name in names]
        return pa.table([column for _, column in made], schema=pa.schema([field for field, _ in made]))

    def converted(self, batch: Any, types: Mapping[str, Type], fail: str | None) -> Any:
        for name, type in types.items():
            if name not in batch.schema.names:
                continue
            number = batch.schema.get_field_index(name)
            column, wanted = batch.column(number), TYPES[type["type"]]
            if column.type == wanted:
                continue
            if is_text(wanted) or is_text(column.type):
                made, _ = from_texts(as_texts(column), type, name, fail)
            else:
                try:
                    made = pc.cast(column, wanted, safe=False)
                except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                    made, _ = from_texts(as_texts(column), type, name, fail)
            batch = batch.set_column(number, name, made)
        return batch

    def in_front(self, batch: Any, columns: Mapping[str, Any]) -> Any:
        fields, made = [], []
        for name, value in columns.items():
            type = pa.string() if value is None or isinstance(value, str) else TIME
            fields.append(pa.field(name, type))
            made.append(pa.repeat(pa.scalar(value, type), batch.num_rows))
        for number, field in enumerate(batch.schema):
            if field.name not in columns:
                fields.append(field)
                made.append(batch.column(number))
        return pa.table(made, schema=pa.schema(fields))

    def names(self, batch: Any) -> list[str]:
        return list(batch.schema.names)

    def length(self, batch: Any) -> int:
        return int(batch.num_rows)

    def select(self, batch: Any, names: Sequence[str]) -> Any:
        return batch.select(list(names)) if names else arrow_delimited.no_columns(batch.num_rows)

    def cut(self, batch: Any, begin: int, length: int) -> Any:
        return batch.slice(begin, length)

    def masked(self, batch: Any, mask: Any) -> Any:
        return batch.filter(mask if isinstance(mask, (pa.Array, pa.ChunkedArray)) else pa.array(mask, pa.bool_()))

    def condition(self, batch: Any, expression: Mapping[str, Any]) -> Any:
        return arrow_expressions.condition(batch, expression)

    def values(self, batch: Any, name: str) -> list[Any]:
        found: list[Any] = batch.column(name).to_pylist()
        return found

    def frame(self, batches: Iterator[Any], out_of_range: str) -> Any:
        try:
            import pandas
        except ImportError:
            raise needs("pandas", "A DataFrame") from None
        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return pandas.DataFrame()
        table = joined(held)
        del held
        table = table.select([name for name in table.schema.names if not name.startswith(ERRORS)])
        of_json = [field.name for field in table.schema if field.metadata == OF_JSON]
        table = _in_nanoseconds(table, out_of_range).replace_schema_metadata(None)
        frame = table.to_pandas(self_destruct=True)
        for name in of_json:
            frame[name] = pandas.Series([_loaded(text) for text in frame[name]], dtype=object)
        return frame


def _in_nanoseconds(table: Any, out_of_range: str) -> Any:
    """The table with all times in nanoseconds, as SDK v1 gives them to pandas; what is outside is null, or an error."""
    for number, field in enumerate(table.schema):
        if not pa.types.is_timestamp(field.type) or field.type.unit == "ns":
            continue
        column, wanted = table.column(number), pa.timestamp("ns", field.type.tz)
        try:
            made = pc.cast(column, wanted)
        except pa.ArrowInvalid:
            micro = pc.cast(pc.cast(column, pa.timestamp("us", field.type.tz)), pa.int64())
            inside = pc.and_(pc.greater_equal(micro, _FIRST), pc.less_equal(micro, _LAST))
            if out_of_range != "null":
                outside = table.filter(pc.invert(pc.fill_null(inside, True))).column(number)
                raise time_out_of_range(field.name, outside.cast(pa.string())[0]) from None
            made = pc.cast(pc.if_else(inside, column, pa.scalar(None, field.type)), wanted)
        table = table.set_column(number, pa.field(field.name, wanted), made)
    return table


def _loaded(text: Any) -> Any:
    found = json.loads(text) if isinstance(text, str) else None
    if isinstance(found, list):
        import numpy

        return numpy.array(found, dtype=object if any(isinstance(each, (list, dict)) for each in found) else None)
    return found
