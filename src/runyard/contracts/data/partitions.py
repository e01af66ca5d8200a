"""Columns out of the paths of files, by a partition_format. A path that does not match has nulls."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Iterable, Sequence

from runyard.contracts.data import tables as contract

_PARTS = {"yyyy": "year", "MM": "month", "dd": "day", "HH": "hour", "mm": "minute", "ss": "second"}


def partition_values(format: str | None, path: str) -> dict[str, Any]:
    """The columns that a path gives, in the order of the format.

    >>> partition_values("/{region}/{day:yyyy/MM/dd}/*.csv", "/data/north/2020/07/31/a.csv")
    {'region': 'north', 'day': datetime.datetime(2020, 7, 31, 0, 0)}
    """
    if not format:
        return {}
    columns = contract.partition_columns(format)
    groups = _groups(tuple(contract.partition_tokens(format)), path)
    if groups is None:
        return {name: None for name, _ in columns}
    values: dict[str, Any] = {}
    for name, date in columns:
        if date is None:
            values[name] = groups.pop(0)
        else:
            parts = contract.date_parts(date)
            values[name] = _time(dict(zip(parts, groups)))
            del groups[: len(parts)]
    return values


def _groups(tokens: Sequence[tuple[str, str]], path: str) -> list[str] | None:
    """What stands in the columns and dates, where the tokens mean the end of a path: first place, longest texts.

    No regular expression: some would take hours for a long name. What did not fit once is not tried again.
    """
    failed: set[tuple[int, int]] = set()

    def fits(number: int, at: int) -> list[str] | None:
        if number == len(tokens):
            return [] if at == len(path) else None
        if (number, at) in failed:
            return None
        kind, text = tokens[number]
        if kind == "text":
            rest = fits(number + 1, at + len(text)) if path.startswith(text, at) else None
            if rest is not None:
                return rest
        elif kind == "digits":
            found = path[at : at + int(text)]
            rest = fits(number + 1, at + int(text)) if len(found) == int(text) and found.isdecimal() else None
            if rest is not None:
                return [found, *rest]
        else:
            end = path.find("/", at)
            least = at + (kind == "column")
            for stop in range(len(path) if end < 0 else end, least - 1, -1):
                rest = fits(number + 1, stop)
                if rest is not None:
                    return [path[at:stop], *rest] if kind == "column" else rest
        failed.add((number, at))
        return None

    starts = (fits(0, at) for at in range(len(path) + 1))
    return next((found for found in starts if found is not None), None)


def distinct_values(format: str, paths: Iterable[str], names: Sequence[str]) -> list[dict[str, Any]]:
    """The values of some columns, each combination once, in the order of the paths.

    >>> distinct_values("/{region}/*.csv", ["/north/a.csv", "/north/b.csv", "/south/a.csv"], ["region"])
    [{'region': 'north'}, {'region': 'south'}]
    """
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for path in paths:
        values = partition_values(format, path)
        chosen = {name: values[name] for name in names}
        found.setdefault(tuple(chosen.values()), chosen)
    return list(found.values())


def _time(parts: dict[str, str]) -> datetime | None:
    numbers = {_PARTS[part]: int(text) for part, text in parts.items()}
    try:
        return datetime(**{"month": 1, "day": 1, **numbers})  # type: ignore[arg-type]
    except ValueError:
        return None
