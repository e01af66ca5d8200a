"""Definitions of tabular datasets: how their files are read, and the steps that choose among rows and columns.

Beside its sources such a definition has `read`, which is one of

    {"format": "delimited", "separator": ",", "header": "same", "encoding": "utf8", ...}
    {"format": "parquet", ...}
    {"format": "json", "invalid_lines": "error", "encoding": "utf8", ...}
    {"format": "sql", "query": "SELECT ...", "timeout": 30}   # its source is a database, with an empty path

each with `types` (what the user set, by column), and perhaps `inferred` (what was seen in the first rows),
`include_path` and `partition_format`; `steps`; and perhaps `timestamp`, the names of the columns with times. An
expression of a filter is `{"column": name}`, `{"value": ...}`, `{"time": ...}`, or `{"op": ..., "of": [...]}`. Nothing
is read here.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Any, Callable, Mapping

from runyard.contracts.data.datasets import SAMPLE, SKIP, TAKE, BadDefinition

DELIMITED, PARQUET, JSON, SQL = "delimited", "parquet", "json", "sql"
FORMATS = (DELIMITED, PARQUET, JSON, SQL)

SAME_HEADERS, NO_HEADERS, FIRST_HEADER, ALL_HEADERS = "same", "none", "first", "combined"
HEADERS = (SAME_HEADERS, NO_HEADERS, FIRST_HEADER, ALL_HEADERS)

CODECS: Mapping[str, str] = {
    "utf8": "utf-8-sig",
    "utf8bom": "utf-8-sig",
    "ascii": "ascii",
    "latin1": "iso-8859-1",
    "iso88591": "iso-8859-1",
    "windows1252": "cp1252",
    "utf16": "utf-16",
    "utf32": "utf-32",
}
"""Names of encodings as SDK v1 has them, and as Python has them."""

STRING, INT, FLOAT, BOOL, DATETIME, STREAM = "string", "int", "float", "bool", "datetime", "stream"
TYPES = (STRING, INT, FLOAT, BOOL, DATETIME, STREAM)
ISO = "iso"
"""Stands among the formats of dates for ISO 8601: a date, or a date and a time with seconds, perhaps with a zone."""

KEEP, DROP, FILTER = "keep", "drop", "filter"

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**")
ARGUMENTS: Mapping[str, int] = {
    **dict.fromkeys((*COMPARISONS, *ARITHMETIC, "&", "|"), 2),
    "~": 1,
    "is_null": 1,
    "is_error": 1,
    "to_lower": 1,
    "to_upper": 1,
    "length": 1,
    "starts_with": 2,
    "ends_with": 2,
    "contains": 2,
    "index_of": 2,
    "substring": 3,
}
"""How many arguments each operation of an expression has."""

LONGEST_TEXT = 65_536
MOST_COLUMNS = 10_000
DEEPEST = 100
MOST_NODES = 1_000


def check(document: Mapping[str, Any]) -> None:
    """Refuse what is no `read`, `steps` or `timestamp` of a tabular dataset; BadDefinition says what is wrong."""
    _read(document.get("read"))
    steps = document.get("steps") or []
    if not isinstance(steps, list) or len(steps) > MOST_NODES:
        raise BadDefinition("The steps of a dataset are a list.")
    for each in steps:
        _step(each)
    timestamp = document.get("timestamp")
    if timestamp is not None:
        _only(timestamp, {"timestamp", "partition"}, "The timestamp of a dataset")
        if not all(name is None or _is_text(name) for name in timestamp.values()):
            raise BadDefinition("The timestamp of a dataset names columns.")


def _read(read: object) -> None:
    if not isinstance(read, Mapping) or read.get("format") not in FORMATS:
        raise BadDefinition("A tabular dataset says how it is read.", f"`read` has a format: {', '.join(FORMATS)}.")
    for name, value in read.items():
        test = _SETTINGS[read["format"]].get(name)
        if test is None:
            raise BadDefinition(f"Reading {read['format']} has no setting {str(name)[:80]!r}.")
        if not test(value):
            raise BadDefinition(f"{str(value)[:80]!r} is no value for the setting {name!r} of a tabular dataset.")
    missing = _NEEDED[read["format"]] - set(read)
    if missing:
        raise BadDefinition(f"Reading {read['format']} needs the setting {min(missing)!r}.")


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


def _is_separator(value: object) -> bool:
    return isinstance(value, str) and len(value) == 1 and value not in '\r\n"'


def _is_type(value: object) -> bool:
    if not isinstance(value, Mapping) or value.get("type") not in TYPES:
        return False
    if set(value) - {"type", "formats", "decimal_mark", "escaped"}:
        return False
    formats, mark = value.get("formats", []), value.get("decimal_mark", ".")
    named = isinstance(formats, list) and len(formats) <= 100 and all(map(_is_text, formats))
    return named and mark in (".", ",") and _is_flag(value.get("escaped", False))


def _are_types(value: object) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, Mapping)
        and len(value) <= MOST_COLUMNS
        and all(_is_text(name) and _is_type(each) for name, each in value.items())
    )


_PATHS: Mapping[str, Callable[[object], bool]] = {
    "format": _is_text,
    "types": _are_types,
    "include_path": _is_flag,
    "partition_format": lambda value: value is None or (_is_text(value) and not partition_fault(str(value))),
}
_SETTINGS: Mapping[str, Mapping[str, Callable[[object], bool]]] = {
    DELIMITED: {
        **_PATHS,
        "separator": _is_separator,
        "header": HEADERS.__contains__,
        "encoding": lambda value: isinstance(value, str) and value in CODECS,
        "multi_line": _is_flag,
        "empty_as_string": _is_flag,
        "infer": _is_flag,
        "inferred": _are_types,
    },
    PARQUET: _PATHS,
    JSON: {
        **_PATHS,
        "invalid_lines": ("error", "drop").__contains__,
        "encoding": lambda value: isinstance(value, str) and value in CODECS,
    },
    SQL: {
        "format": _is_text,
        "types": _are_types,
        "query": lambda value: _is_text(value) and bool(str(value).strip()),
        "timeout": lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 86_400,
    },
}
_NEEDED: Mapping[str, set[str]] = {
    DELIMITED: {"separator", "header", "encoding"},
    PARQUET: set(),
    JSON: {"invalid_lines", "encoding"},
    SQL: {"query", "timeout"},
}


# -- steps ------------------------------------------------------------------------------------------------------------


def _step(step: object) -> None:
    kind = str(step.get("step")) if isinstance(step, Mapping) else ""
    if not isinstance(step, Mapping) or kind not in _STEPS:
        raise BadDefinition(f"{kind[:40]!r} is no step of a tabular dataset.", f"There is: {', '.join(_STEPS)}.")
    _STEPS[kind](step)


def _counted(step: Mapping[str, Any]) -> None:
    count = step.get("count")
    if isinstance(count, bool) or not isinstance(count, int) or count < 0 or set(step) != {"step", "count"}:
        raise BadDefinition(f"The step {step['step']} has a count, which is a whole number from 0 on.")


def _sampled(step: Mapping[str, Any]) -> None:
    probability, seed = step.get("probability"), step.get("seed")
    number = isinstance(probability, (int, float)) and not isinstance(probability, bool)
    if (
        not number
        or not 0 <= float(probability or 0) <= 1
        or isinstance(seed, bool)
        or not isinstance(seed, int)
        or not _is_flag(step.get("rest", False))
        or set(step) - {"step", "probability", "seed", "rest"}
    ):
        raise BadDefinition("The step sample has a probability from 0 to 1, and a seed, which is a whole number.")


def _columns(step: Mapping[str, Any]) -> None:
    names = step.get("columns")
    listed = isinstance(names, list) and len(names) <= MOST_COLUMNS and all(map(_is_text, names))
    if not listed or set(step) != {"step", "columns"}:
        raise BadDefinition(f"The step {step['step']} has a list of names of columns.")


def _filtered(step: Mapping[str, Any]) -> None:
    if set(step) != {"step", "expression"}:
        raise BadDefinition("The step filter has an expression.")
    check_expression(step["expression"])


_STEPS: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
    TAKE: _counted,
    SKIP: _counted,
    SAMPLE: _sampled,
    KEEP: _columns,
    DROP: _columns,
    FILTER: _filtered,
}


def check_expression(expression: object) -> None:
    """Refuse what is no expression; BadDefinition says what is wrong."""
    if _nodes(expression, DEEPEST) > MOST_NODES:
        raise BadDefinition(f"An expression has at most {MOST_NODES:,} parts.", "Filter in several steps.")


def _nodes(expression: object, depth: int) -> int:
    if depth == 0:
        raise BadDefinition(f"An expression is nested at most {DEEPEST} deep.", "Filter in several steps.")
    if not isinstance(expression, Mapping):
        raise BadDefinition(f"{str(expression)[:80]!r} is no expression.", _EXAMPLE)
    if set(expression) == {"column"} and _is_text(expression["column"]):
        return 1
    if set(expression) == {"value"} and _is_value(expression["value"]):
        return 1
    if set(expression) == {"time"} and _is_time(expression["time"]):
        return 1
    operation, of = expression.get("op"), expression.get("of")
    if set(expression) != {"op", "of"} or not isinstance(operation, str) or not isinstance(of, list):
        raise BadDefinition(f"{str(dict(expression))[:80]!r} is no expression.", _EXAMPLE)
    if ARGUMENTS.get(operation) != len(of):
        raise BadDefinition(f"{operation[:40]!r} with {len(of)} arguments is no operation of an expression.", _EXAMPLE)
    return 1 + sum(_nodes(each, depth - 1) for each in of)


_EXAMPLE = "dataset.filter(dataset['age'] > 30) makes one."


def _is_value(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) < 1 << 63
    return value is None or _is_text(value)


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is None
    except ValueError:
        return False


def _only(document: object, names: set[str], what: str) -> None:
    if not isinstance(document, Mapping) or set(document) - names:
        raise BadDefinition(f"{what} has: {', '.join(sorted(names))}.")


# -- columns out of paths ---------------------------------------------------------------------------------------------

_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_DATE_PART = re.compile(r"yyyy|MM|dd|HH|mm|ss")
MOST_WILDCARDS = 100
"""Of a partition_format."""


def partition_columns(format: str) -> list[tuple[str, str | None]]:
    """The columns that a partition_format names, each with the format of its date or None.

    >>> partition_columns("/{region}/{day:yyyy/MM/dd}/*.csv")
    [('region', None), ('day', 'yyyy/MM/dd')]
    """
    found = []
    for each in _PART.finditer(format):
        if each[1] is not None:
            name, colon, date = each[1].partition(":")
            found.append((name, date if colon else None))
    return found


def partition_fault(format: str) -> str:
    """What is wrong with a partition_format, or nothing.

    >>> partition_fault("/{day:MM/dd}/*.csv")
    "the date {day:MM/dd} has no year: use 'yyyy'"
    """
    if any(each[0] in ("{", "}") for each in _PART.finditer(format)):
        return "a bracket is not closed: '{{' and '}}' stand for the characters themselves"
    columns = partition_columns(format)
    if not columns:
        return "it names no column: use '{name}' or '{name:yyyy/MM/dd}'"
    if sum(kind != "text" for kind, _ in partition_tokens(format)) > MOST_WILDCARDS:
        return f"it has more than {MOST_WILDCARDS} columns and wildcards"
    if any(not name for name, _ in columns):
        return "a column has no name: use '{name}'"
    if len({name for name, _ in columns}) < len(columns):
        return "two columns have the same name"
    dates = [(name, date) for name, date in columns if date is not None]
    if len(dates) > 1:
        return "only one column can be a date"
    for name, date in dates:
        if not _DATE_PART.search(date):
            return f"the date {{{name}:{date}}} has no format: use 'yyyy', 'MM', 'dd', 'HH', 'mm', 'ss'"
        if "yyyy" not in date:
            return f"the date {{{name}:{date}}} has no year: use 'yyyy'"
    return ""


def partition_tokens(format: str) -> list[tuple[str, str]]:
    """What a partition_format consists of, in its order: `text` as it stands, `any` for `*`, `column`, and `digits`.

    >>> partition_tokens("/{region}/{day:yyyy}-*.csv")[1:]
    [('column', ''), ('text', '/'), ('digits', '4'), ('text', '-'), ('any', ''), ('text', '.csv')]
    """
    found: list[tuple[str, str]] = []
    at = 0
    for each in _PART.finditer(format):
        found += _literal(format[at : each.start()])
        at = each.end()
        if each[1] is None:
            found.append(("text", each[0][0]))
            continue
        _, colon, date = each[1].partition(":")
        found += _date(date) if colon else [("column", "")]
    return found + _literal(format[at:])


def _literal(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for number, part in enumerate(re.sub(r"\*+", "*", text).split("*")):
        found += [("any", "")] if number else []
        found += [("text", part)] if part else []
    return found


def _date(format: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    for each in _DATE_PART.finditer(format):
        found += [("text", format[at : each.start()])] if each.start() > at else []
        found.append(("digits", str(len(each[0]))))
        at = each.end()
    return found + ([("text", format[at:])] if format[at:] else [])


def date_parts(format: str) -> list[str]:
    """
    >>> date_parts("yyyy/MM/dd")
    ['yyyy', 'MM', 'dd']
    """
    return _DATE_PART.findall(format)
