"""The engine for environments without pyarrow: rows are lists of Python values. Slow, and without Parquet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Iterator, Mapping, NoReturn, Sequence

from runyard.contracts.data.operations import OPERATIONS, is_true
from runyard.sdk.tables.column_types import NoFit, Type, converter
from runyard.sdk.tables.engines.base import ERRORS, Engine
from runyard.sdk.tables.engines.settings import ReadFile, careful_batches
from runyard.sdk.tables.problem import TableProblem, needs


@dataclass(frozen=True)
class Rows:
    """A batch."""

    columns: Mapping[str, list[Any]]
    length: int


class PlainEngine(Engine[Rows]):
    """Rows in lists."""

    def delimited(self, file: ReadFile) -> Iterator[Rows]:
        for names, columns in careful_batches(file):
            made: dict[str, list[Any]] = {}
            hidden: dict[str, list[Any]] = {}
            for name, texts in zip(names, columns):
                values, errors = convert_texts(texts, file.type_of(name), name, file.failing)
                made[name] = values
                if name in file.errors:
                    hidden[ERRORS + name] = errors
            yield Rows({**made, **hidden}, len(columns[0]) if columns else 0)

    def parquet(self, file: ReadFile) -> NoReturn:
        raise needs("pyarrow", "Reading Parquet")

    def of_values(self, names: Sequence[str], columns: Mapping[str, list[Any]], length: int) -> Rows:
        return Rows({name: columns[name] for name in names}, length)

    def converted(self, batch: Rows, types: Mapping[str, Type], fail: str | None) -> Rows:
        made = dict(batch.columns)
        for name, type in types.items():
            if name in made:
                texts = [None if value is None else as_text(value) for value in made[name]]
                made[name] = convert_texts(texts, type, name, fail)[0]
        return Rows(made, batch.length)

    def in_front(self, batch: Rows, columns: Mapping[str, Any]) -> Rows:
        front = {name: [value] * batch.length for name, value in columns.items()}
        return Rows(
            {**front, **{name: each for name, each in batch.columns.items() if name not in front}}, batch.length
        )

    def names(self, batch: Rows) -> list[str]:
        return list(batch.columns)

    def length(self, batch: Rows) -> int:
        return batch.length

    def select(self, batch: Rows, names: Sequence[str]) -> Rows:
        return Rows({name: batch.columns[name] for name in names}, batch.length)

    def cut(self, batch: Rows, begin: int, length: int) -> Rows:
        kept = max(0, min(length, batch.length - begin))
        return Rows({name: each[begin : begin + kept] for name, each in batch.columns.items()}, kept)

    def masked(self, batch: Rows, mask: Any) -> Rows:
        at = [number for number, inside in enumerate(mask) if inside]
        return Rows({name: [each[number] for number in at] for name, each in batch.columns.items()}, len(at))

    def condition(self, batch: Rows, expression: Mapping[str, Any]) -> list[bool]:
        return [is_true(value) for value in worked_out(batch.columns, batch.length, expression)]

    def values(self, batch: Rows, name: str) -> list[Any]:
        return batch.columns[name]

    def frame(self, batches: Iterator[Rows], out_of_range: str) -> Any:
        try:
            import pandas
        except ImportError:
            raise needs("pandas pyarrow", "A DataFrame") from None
        held: dict[str, list[Any]] = {}
        rows = 0
        for batch in batches:
            for name in batch.columns:
                if name not in held:
                    held[name] = [None] * rows
            rows += batch.length
            for name, values in held.items():
                values.extend(batch.columns.get(name) or [None] * batch.length)
        if not rows:
            return pandas.DataFrame()
        return pandas.DataFrame({name: _series(pandas, values, name, out_of_range) for name, values in held.items()})


def convert_texts(
    texts: Sequence[str | None], type: Type, name: str, fail: str | None
) -> tuple[list[Any], list[str | None]]:
    """The values of texts under a type, and the texts that did not fit."""
    convert = converter(type)
    known: dict[str | None, tuple[Any, str | None]] = {None: (None, None)}
    for text in set(texts):
        if text is None:
            continue
        try:
            known[text] = (convert(text), None)
        except NoFit:
            if fail is not None:
                raise no_fit(fail, name, text, type) from None
            known[text] = (None, text or None)
    pairs = [known[text] for text in texts]
    return [value for value, _ in pairs], [error for _, error in pairs]


def no_fit(file: str, name: str, text: str, type: Type) -> TableProblem:
    return TableProblem(
        f"{file}: {text[:80]!r} in the column {name!r} is no {type['type']}.",
        "Read it with on_error='null', or give the column another type: "
        f"set_column_types={{{name!r}: DataType.to_string()}}.",
    )


def as_text(value: Any) -> str:
    """
    >>> as_text(True), as_text(1.5)
    ('True', '1.5')
    """
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)


def worked_out(columns: Mapping[str, list[Any]], length: int, expression: Mapping[str, Any]) -> list[Any]:
    """The value of an expression for each row. A column that is not there is null."""
    if "column" in expression:
        return columns.get(expression["column"]) or [None] * length
    if "value" in expression:
        return [expression["value"]] * length
    if "time" in expression:
        return [datetime.fromisoformat(expression["time"])] * length
    if expression["op"] == "is_error":
        name = expression["of"][0].get("column")
        return [text is not None for text in columns.get(f"{ERRORS}{name}") or [None] * length]
    of = [worked_out(columns, length, each) for each in expression["of"]]
    operation = OPERATIONS[expression["op"]]
    return [operation(*row) for row in zip(*of)]


_FIRST, _LAST = datetime(1677, 9, 22), datetime(2262, 4, 11)


def _series(pandas: Any, values: list[Any], name: str, out_of_range: str) -> Any:
    kinds = {type(value) for value in values if value is not None}
    gaps = any(value is None for value in values)
    if kinds == {datetime}:
        return pandas.Series(_in_range(values, name, out_of_range)).astype("datetime64[ns]")
    if kinds and kinds <= {int, float} and (gaps or float in kinds):
        return pandas.Series([float("nan") if value is None else value for value in values], dtype="float64")
    if kinds == {bool} and gaps:
        return pandas.Series(values, dtype=object)
    return pandas.Series(values) if kinds else pandas.Series(values, dtype=object)


def _in_range(values: Sequence[Any], name: str, out_of_range: str) -> list[Any]:
    made = []
    for value in values:
        if value is not None and not _FIRST <= value <= _LAST:
            if out_of_range != "null":
                raise time_out_of_range(name, value)
            value = None
        made.append(value)
    return made


def time_out_of_range(name: str, value: object) -> TableProblem:
    return TableProblem(
        f"The time {value} in the column {name!r} is outside of what pandas holds (1677 to 2262).",
        "Read it with out_of_range_datetime='null'.",
    )
