"""`runyard compare` and `runyard diff`: runs beside one another, and what differs between two of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli import errors
from runyard.cli.completion import run_ids
from runyard.cli.options import JsonOption
from runyard.cli.output import formatting, screen
from runyard.cli.output.sparkline import sparkline
from runyard.cli.output.terminal import style
from runyard.cli.parameters import Argument, Option
from runyard.contracts import journal

if TYPE_CHECKING:
    from runyard.cli.api import Api

WIDTH = 48
LONGEST = 40
COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def compare(
    runs: Annotated[
        list[str],
        Argument(metavar="RUN...", help="Runs: an id, a part of one, or @last.", autocompletion=run_ids),
    ],
    everything: Annotated[bool, Option("--all", help="Also what is the same in all of them.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show runs beside one another: what differs, and their curves."""
    from runyard.cli import api

    server = api.connect()
    ids = _found(server, runs)
    if len(ids) < 2:
        raise errors.CommandError(
            f"There is one run to compare, {ids[0]}, and nothing to compare it with.",
            "Name two runs or more; `runyard ls` lists them.",
            errors.USAGE,
            "usage",
        )
    answer = server.compare(ids)
    if as_json:
        screen.document(answer)
        return
    rows = [row for row in answer["rows"] if everything or not row["same"]]
    names = [run["display_name"] or run["id"] for run in answer["runs"]]
    shown, group = [], ""
    for row in rows:
        label = row["group"] if row["group"] != group else ""
        group = row["group"]
        shown.append((label, row["name"], *(_cell(row["name"], value) for value in row["values"])))
    screen.table(("", "", *names), shown)
    same = len(answer["rows"]) - len(rows)
    if same:
        print(f"\n{same} more are the same in all of them; --all shows those too.")
    _curves(server, answer["runs"])


def diff(
    first: Annotated[str, Argument(metavar="RUN", help="The former run.", autocompletion=run_ids)],
    second: Annotated[str, Argument(metavar="RUN", help="The later run.", autocompletion=run_ids)],
    as_json: JsonOption = False,
) -> None:
    """Show what differs between two runs: how they were started, and the lines of their source."""
    from runyard.cli import api

    server = api.connect()
    ids = _found(server, [first, second])
    if len(ids) < 2:
        raise errors.CommandError(
            f"{first} and {second} are the same run.", "Name two runs; `runyard ls` lists them.", errors.USAGE, "usage"
        )
    compared, files = server.compare(ids), server.source_diff(ids)
    started = [row for row in compared["rows"] if not row["same"] and _is_of_start(row)]
    if as_json:
        screen.document({"runs": ids, "rows": started, "files": files})
        return
    for row in started:
        old, new = (_cell(row["name"], value) for value in row["values"])
        print(f"{row['group']} {row['name']}: {style(old or 'none', fg='red')} → {style(new or 'none', fg='green')}")
    for file in files:
        print()
        print(screen.heading(f"{file['path']}: {file['change']}") + (f" ({file['note']})" if file["note"] else ""))
        for line in (file["diff"] or "").splitlines():
            print(style(line, fg=COLOURS[line[0]]) if line[:1] in COLOURS else line)
    if not started and not files:
        print("They were started alike, from the same source.")


def _is_of_start(row: Mapping[str, Any]) -> bool:
    """Whether a row tells how a run was started, and not how it went."""
    return row["group"] != "metrics" and row["name"] not in ("status", "seconds")


def _found(server: Api, runs: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(server.find(run)["id"] for run in runs))


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    unpacked = journal.unpack_value(value)
    if name == "seconds" and isinstance(unpacked, int | float):
        return formatting.duration(unpacked)
    if name in ("snapshot", "git commit"):
        return str(unpacked)[:12]
    text = formatting.number(unpacked) if isinstance(unpacked, int | float) else str(unpacked)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _curves(server: Api, runs: Sequence[Mapping[str, Any]]) -> None:
    """A line for each run below each metric that several of them have logged."""
    curves: dict[str, list[tuple[str, list[float]]]] = {}
    for run in runs:
        for metric in server.metrics(run["id"], buckets=WIDTH):
            values = [journal.unpack_value(value) for value in _drawn(metric)]
            numbers = [float(value) for value in values if isinstance(value, int | float)]
            if len(numbers) > 1:
                curves.setdefault(metric["name"], []).append((run["display_name"] or run["id"], numbers))
    for name, lines in curves.items():
        if len(lines) < 2:
            continue
        finite = [value for _, values in lines for value in values if math.isfinite(value)]
        low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
        print(f"\n{screen.heading(name)}  {formatting.number(low)} to {formatting.number(high)}")
        width = max(len(label) for label, _ in lines)
        for label, values in lines:
            print(f"  {label:{width}}  {sparkline(values, low, high)}  {formatting.number(values[-1])}")


def _drawn(metric: Mapping[str, Any]) -> list[Any]:
    buckets = metric.get("buckets")
    return [each["last"] for each in buckets] if buckets else list(metric.get("values") or [])
