"""What the widget fetches of a run: its document, downsampled metrics, the end of its log, and what is around it
(`surroundings`). A few requests of a bounded size, however many metrics and points the run has."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from runyard.client.http import quote
from runyard.contracts.documents import MetricDocument, RunDocument
from runyard.contracts.journal import unpack_value
from runyard.sdk.run.watching import followed_log
from runyard.sdk.widgets.surroundings import NOTHING, Surroundings, look_around
from runyard.sdk.widgets.tails import tail
from runyard.sdk.workspace.service import Service

METRICS = 12
POINTS = 100
TAIL = 16 << 10


class Point(NamedTuple):
    """A point of a drawn series: one value, or the smallest, the largest and the last of many."""

    x: float
    low: float
    high: float
    last: float


@dataclass(frozen=True)
class Look:
    run: RunDocument
    metrics: list[MetricDocument]
    more_metrics: bool  # than are here
    log: str | None
    tail: str
    around: Surroundings = NOTHING


def look(service: Service, run_id: str) -> Look:
    address = f"/api/runs/{quote(run_id)}"
    run = cast("RunDocument", service.get(address))
    asked = {"buckets": POINTS, "limit": METRICS + 1}
    metrics = cast("list[MetricDocument]", service.get(f"{address}/metrics", asked)["metrics"].get(run_id, []))
    log = followed_log(run.get("logs", []))
    end = tail(service, run_id, log, TAIL) if log is not None else ""
    return Look(run, metrics[:METRICS], len(metrics) > METRICS, log, end, look_around(service, run))


def points(metric: MetricDocument) -> list[Point]:
    """The finite points of a numeric series; none of any other metric."""
    found: list[tuple[Any, Any, Any, Any]] = []
    buckets = metric.get("buckets")
    if buckets:
        found = [(each["step_last"], each["min"], each["max"], each["last"]) for each in buckets]
    elif metric.get("kind") == "values":
        values = metric.get("values") or []
        steps = metric.get("steps") or [None] * len(values)
        found = [(step, value, value, value) for step, value in zip(steps, values)]
    steps_seen = [step for step, *_ in found]
    if any(step is None for step in steps_seen) or sorted(steps_seen) != steps_seen:
        # No steps, or they start again: the points are drawn in the order in which they came.
        steps_seen = list(range(len(found)))
    drawn = []
    for step, (_, low, high, last) in zip(steps_seen, found):
        numbers = _number(step), _number(low), _number(high), _number(last)
        x, smallest, largest, newest = numbers
        if x is not None and smallest is not None and largest is not None:
            drawn.append(Point(x, smallest, largest, newest if newest is not None else largest))
    return drawn


def last_value(metric: MetricDocument) -> str:
    """The newest value of a metric, of whatever kind, short."""
    if metric.get("kind") == "table":
        row = [(name, column[-1]) for name, column in metric.get("columns", {}).items() if column]
        return ", ".join(f"{name}={_short(value)}" for name, value in row[:METRICS])
    buckets = metric.get("buckets")
    if buckets:
        return _short(buckets[-1]["last"])
    values = metric.get("values") or []
    return _short(values[-1]) if values else ""


def _short(value: Any) -> str:
    plain = unpack_value(value)
    text = f"{plain:.6g}" if isinstance(plain, float) else str(plain)
    return text if len(text) <= 80 else text[:80] + "…"


def _number(value: Any) -> float | None:
    plain = unpack_value(value)
    if isinstance(plain, (bool, str)) or plain is None:
        return None
    try:
        number = float(cast("Any", plain))
    except (OverflowError, TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
