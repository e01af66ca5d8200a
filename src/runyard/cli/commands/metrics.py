"""`runyard metrics`: all metrics of a run at a glance, or one of them point by point."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Annotated

from runyard.cli import errors
from runyard.cli.completion import metric_names
from runyard.cli.options import JsonOption, RunArgument
from runyard.cli.output import formatting, rank_logs, screen
from runyard.cli.parameters import Argument, Option
from runyard.contracts import journal

if TYPE_CHECKING:
    from runyard.contracts.documents import MetricDocument


def metrics(
    run: RunArgument,
    name: Annotated[
        str | None,
        Argument(metavar="NAME", help="One metric, point by point.", autocompletion=metric_names),
    ] = None,
    buckets: Annotated[
        int | None,
        Option("--buckets", min=1, help="At most so many lines a series, each with its smallest and largest value."),
    ] = None,
    rank: Annotated[
        str | None,
        rank_logs.rank_option(
            "What one rank of a distributed run logged, or each of them apart. Default: all of it as one series."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the metrics of a run."""
    from runyard.cli import api

    server = api.connect()
    found_run = server.find(run)
    found = server.metrics(found_run["id"], name, buckets if name or as_json else buckets or 1, rank is not None)
    if rank is not None and rank != rank_logs.ALL:
        found = _of_rank(found_run["id"], found, int(rank))
    if name and not found:
        raise errors.CommandError(
            f"Run {found_run['id']} has no metric {name!r}.",
            f"`runyard metrics {found_run['id']}` lists what it has.",
            errors.NOT_FOUND,
            "metric_not_found",
        )
    if as_json:
        screen.document(found)
    elif not found:
        print("No metrics.")
    elif name:
        for metric in found:
            if rank == rank_logs.ALL and len(found) > 1:
                print(screen.heading(f"Rank {_ranks(metric)}" if metric.get("ranks") else "Without a rank"))
            _one(metric)
    else:
        _all(found, apart=rank == rank_logs.ALL)
    if rank is None and not as_json:
        _note_ranks(found_run["id"], found)


def _of_rank(run_id: str, found: Sequence[MetricDocument], rank: int) -> list[MetricDocument]:
    mine = [metric for metric in found if metric.get("ranks") == [rank]]
    if found and not mine:
        others = sorted({each for metric in found for each in metric.get("ranks", [])})
        has = f"Ranks that did: {formatting.ranges(others)}." if others else "What was logged has no rank."
        raise errors.CommandError(
            f"Rank {rank} of run {run_id} has logged nothing of this. {has}",
            f"`runyard metrics {run_id} --rank {rank_logs.ALL}` shows what each rank logged.",
            errors.NOT_FOUND,
            "rank_not_found",
        )
    return mine


def _note_ranks(run_id: str, found: Sequence[MetricDocument]) -> None:
    """Mention that several ranks logged into one series, whose points are no single curve."""
    most = max((len(metric.get("ranks", [])) for metric in found), default=0)
    if most > 1:
        hint = f"`runyard metrics {run_id} --rank {rank_logs.ALL}` shows them apart."
        print(f"{most} ranks logged into one series. {hint}", file=sys.stderr, flush=True)


def _ranks(metric: MetricDocument) -> str:
    return formatting.ranges(metric.get("ranks", []))


def _all(found: Sequence[MetricDocument], apart: bool) -> None:
    from runyard.cli.output import summary

    rows = []
    for metric in found:
        smallest, largest = _extremes(metric)
        rank = [_ranks(metric)] if apart else []
        cells = (metric["kind"], f"{metric['count']:,}", summary.last_value(metric), smallest, largest)
        rows.append((metric["name"], *rank, *cells))
    screen.table(("METRIC", *(["RANK"] if apart else []), "KIND", "COUNT", "LAST", "MIN", "MAX"), rows)


def _extremes(metric: MetricDocument) -> tuple[str, str]:
    spans = metric.get("buckets") or [{"min": value, "max": value} for value in metric.get("values") or []]
    low = [span["min"] for span in spans if isinstance(span["min"], int | float)]
    high = [span["max"] for span in spans if isinstance(span["max"], int | float)]
    return (formatting.number(min(low)), formatting.number(max(high))) if low and high else ("", "")


def _one(metric: MetricDocument) -> None:
    if metric["kind"] == "table":
        columns = list(metric["columns"])
        filled = [metric["columns"][column] for column in columns]
        screen.table(columns, [[_text(value) for value in row] for row in zip(*filled, strict=True)])
    elif metric.get("buckets"):
        _thinned(metric)
    elif metric["kind"] == "file":
        for file in metric.get("values") or []:
            print(file)
    else:
        _series(metric)


def _thinned(metric: MetricDocument) -> None:
    rows, position = [], 0
    for span in metric["buckets"]:
        first, last = span["step_first"], span["step_last"]
        if first is None or last is None:
            first, last = position, position + span["count"] - 1
        position += span["count"]
        steps = f"{first}-{last}" if first != last else str(first)
        values = (_text(span["min"]), _text(span["max"]), _text(span["last"]))
        rows.append((steps, _clock(span["time_last"]), f"{span['count']:,}", *values))
    screen.table(("STEP", "TIME", "COUNT", "MIN", "MAX", "LAST"), rows)


def _series(metric: MetricDocument) -> None:
    values, times = metric.get("values") or [], metric.get("times") or []
    steps = metric.get("steps") or range(len(values))
    screen.table(
        ("STEP", "TIME", "VALUE"),
        [
            ("" if step is None else str(step), _clock(time), _text(value))
            for step, time, value in zip(steps, times, values, strict=True)
        ],
    )


def _text(value: object) -> str:
    return formatting.number(journal.unpack_value(value))


def _clock(seconds: float) -> str:
    return formatting.local(datetime.fromtimestamp(seconds, timezone.utc))
