"""Filters and orders of MLflow on what there are few of: experiments, models and their versions.

Runs, of which there are many, are found by SQL (`run_search`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from runyard.store.errors import Refused
from runyard.store.mlflow.language import (
    ATTRIBUTE,
    METRIC,
    PARAMETER,
    TAG,
    Attributes,
    Condition,
    Order,
    parse_filter,
    parse_orders,
)

Row = TypeVar("Row")

_TOKEN = re.compile("[0-9]{1,15}", re.ASCII)


@dataclass(frozen=True)
class Values:
    """What can be asked of one thing."""

    attributes: Mapping[str, Any]
    tags: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)

    def of(self, kind: str, key: str) -> Any:
        if kind == ATTRIBUTE:
            return self.attributes.get(key)
        return {TAG: self.tags, PARAMETER: self.parameters, METRIC: self.metrics}.get(kind, {}).get(key)


@dataclass(frozen=True)
class Wanted:
    conditions: Sequence[Condition]
    orders: Sequence[Order]


def parse(filter: str | None, order_by: Iterable[str] | None, attributes: Attributes) -> Wanted:
    return Wanted(parse_filter(filter, attributes), parse_orders(order_by or (), attributes))


def page(
    rows: Iterable[Row], wanted: Wanted, values_of: Callable[[Row], Values], limit: int, token: str | None
) -> tuple[list[Row], str | None]:
    """Those of the rows that are wanted, in order, from where the token says; and the token of the next page."""
    if token and not _TOKEN.fullmatch(token):
        raise Refused("bad_request", f"{token[:40]!r} is no page token.", "Send `next_page_token` of the former page.")
    known = [(values_of(row), row) for row in rows]
    found = [(values, row) for values, row in known if all(_holds(values, each) for each in wanted.conditions)]
    for order in reversed(wanted.orders):
        _sort(found, order)
    start = int(token) if token else 0
    end = start + max(0, limit)
    return [row for _, row in found[start:end]], str(end) if len(found) > end else None


def _sort(found: list[tuple[Values, Row]], order: Order) -> None:
    """What lacks the value comes last, in either direction."""

    def value(each: tuple[Values, Row]) -> Any:
        return each[0].of(order.kind, order.key)

    there = [each for each in found if value(each) is not None]
    lacking = [each for each in found if value(each) is None]
    there.sort(key=value, reverse=order.descending)
    found[:] = there + lacking


def _holds(values: Values, asked: Condition) -> bool:
    value = values.of(asked.kind, asked.key)
    if asked.sign == "IS NULL":
        return value is None
    if asked.sign == "IS NOT NULL":
        return value is not None
    if value is None:
        return False
    wanted: Any = asked.value
    if asked.sign in ("LIKE", "ILIKE"):
        return _pattern(str(wanted), asked.sign == "ILIKE").fullmatch(str(value)) is not None
    if asked.sign in ("IN", "NOT IN"):
        return (value in wanted) == (asked.sign == "IN")
    return _SIGNS[asked.sign](value, wanted)


@lru_cache(64)
def _pattern(pattern: str, insensitive: bool) -> re.Pattern[str]:
    """A pattern of SQL, in which several `%` in a row mean no more than one: no text makes it slow."""
    parts = [re.escape(part).replace("_", ".") for part in re.split("%+", pattern)]
    # Each part is looked for once, from where the former one was found: nothing is tried twice.
    body = parts[0]
    for number, part in enumerate(parts[1:], 1):
        last = number == len(parts) - 1
        body += f".*{part}" if last else f"(?:(?!{part}).)*{part}" if part else ".*"
    return re.compile(body, re.DOTALL | (re.IGNORECASE if insensitive else 0))


_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda value, wanted: bool(value == wanted),
    "!=": lambda value, wanted: bool(value != wanted),
    ">": lambda value, wanted: bool(value > wanted),
    ">=": lambda value, wanted: bool(value >= wanted),
    "<": lambda value, wanted: bool(value < wanted),
    "<=": lambda value, wanted: bool(value <= wanted),
}
