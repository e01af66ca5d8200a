"""Rows of the table of runs as JSON and as CSV: what the columns show, and nothing that a list has no use for."""

from __future__ import annotations

from collections.abc import Sequence

from runyard.server.context import ServerContext
from runyard.server.responses.documents import Json, timestamp
from runyard.store.runs.records import SWEEP
from runyard.store.runs.table import Columns, Group, Row

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a text may not begin with in a file that a spreadsheet opens: it would be reckoned."""

_FIXED = ("id", "name", "experiment", "status", "target", "created", "started", "ended", "seconds", "user")


def row(each: Row, shown: Columns, context: ServerContext) -> Json:
    run = context.scheduler.seen(each.run)
    return {
        "id": run.id,
        "number": run.number,
        "name": run.display_name or run.name,
        "experiment": run.experiment,
        "status": run.status,
        "reason": run.reason,
        "type": run.type,
        "target": run.target,
        "user": run.submitted_by,
        "created_at": timestamp(run.created_at),
        "started_at": timestamp(run.started_at),
        "ended_at": timestamp(run.ended_at),
        "archived": run.archived_at is not None,
        "parent_id": run.parent_id,
        "children": each.children,
        "sweep": run.kind == SWEEP,
        "metrics": each.metrics,
        "params": {name: run.parameters[name] for name in shown.parameters if name in run.parameters},
        "tags": {name: run.tags[name] for name in shown.tags if name in run.tags},
    }


def group(each: Group) -> Json:
    metrics = {name: {"min": low, "mean": mean, "max": high} for name, (low, mean, high) in each.metrics.items()}
    return {"value": each.value, "runs": each.runs, "states": each.states, "metrics": metrics}


def csv_head(shown: Columns) -> list[str]:
    return [
        *_FIXED,
        *(f"metrics.{name}" for name in shown.metrics),
        *(f"params.{name}" for name in shown.parameters),
        *(f"tag.{name}" for name in shown.tags),
    ]


def csv_cells(each: Row, shown: Columns) -> list[str]:
    run = each.run
    took = None if run.started_at is None or run.ended_at is None else (run.ended_at - run.started_at).total_seconds()
    texts = [
        *(run.id, run.display_name or run.name, run.experiment, run.status, run.target),
        *(timestamp(run.created_at), timestamp(run.started_at), timestamp(run.ended_at)),
    ]
    numbers = [each.metrics.get(name) for name in shown.metrics]
    labels: Sequence[str | None] = [
        *(run.parameters.get(name) for name in shown.parameters),
        *(run.tags.get(name) for name in shown.tags),
    ]
    return [
        *map(_text, texts),
        _number(took),
        _text(run.submitted_by),
        *map(_number, numbers),
        *map(_text, labels),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


def _text(value: str | None) -> str:
    if value is None:
        return ""
    return f"'{value}" if value.startswith(FORMULA) and not _is_number(value) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
