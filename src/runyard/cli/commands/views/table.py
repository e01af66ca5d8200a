"""The list of runs with columns of metrics, in an order by one of them: `runyard ls --metric acc --sort -acc`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runyard.cli.options import seconds
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import bad_parameter

if TYPE_CHECKING:
    from runyard.cli.api import Api

_ORDERS = {"newest": "-created", "oldest": "created", "longest": "-duration"}


@dataclass(frozen=True)
class Wanted:
    filter: str
    sort: str

    @property
    def order(self) -> str:
        if self.sort == "largest":
            raise bad_parameter("A table with metrics has no order by size: leave out --filter and --metric.", "--sort")
        return _ORDERS.get(self.sort, self.sort)

    @property
    def metric(self) -> str | None:
        """The metric that the order is by, if it is one that is written without its family."""
        name = self.order.removeprefix("-")
        if name.startswith("metrics."):
            return name.removeprefix("metrics.")
        return None if name in _FIELDS or "." in name.partition("/")[0] else name


_FIELDS = (
    *("created", "started", "ended", "duration", "status", "name", "id", "target", "type", "user", "number"),
    "experiment",
)


def terms(
    experiment: str | None,
    status: str | None,
    tags: Sequence[str],
    parameters: Sequence[str],
    older_than: str | None,
) -> list[str]:
    """The options of `ls` as parts of a sentence.

    >>> terms("mnist", "Failed", ["owner=me", "kept"], ["lr=0.1"], None)
    ['experiment="mnist"', 'status="Failed"', 'tag."owner"="me"', 'has:"tag.kept"', 'params."lr"="0.1"']
    """
    found = []
    if experiment is not None:
        found.append(f"experiment={_quoted(experiment)}")
    if status is not None:
        found.append(f"status={_quoted(status)}")
    for family, asked in (("tag", tags), ("params", parameters)):
        for one in asked:
            key, equals, value = one.partition("=")
            found.append(f"{family}.{_quoted(key)}={_quoted(value)}" if equals else f"has:{_quoted(f'{family}.{key}')}")
    if older_than is not None:
        found.append(f"age>{seconds(older_than, '--older-than'):.0f}s")
    return found


def show(
    server: Api,
    workspace: str | None,
    wanted: Wanted,
    metrics: Sequence[str],
    children: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Print the runs; the metric that they are sorted by is among the columns."""
    shown = list(dict.fromkeys([*metrics, *([wanted.metric] if wanted.metric else [])]))
    if workspace is None:
        newest = server.newest(1)
        workspace = newest[0]["workspace"] if newest else "local"
    found = server.table(workspace, wanted.filter, wanted.order, shown, children, limit)
    if as_json:
        screen.document(found)
        return
    if not found:
        print("No runs like that.")
        return
    rows = [
        (
            run["id"],
            run["status"],
            run["experiment"],
            formatting.ago(formatting.moment(run["created_at"])),
            formatting.lasted(run["started_at"], run["ended_at"]),
            *(_value(run["metrics"], name) for name in shown),
            _name(server, run),
        )
        for run in found
    ]
    heads = ("RUN", "STATUS", "EXPERIMENT", "CREATED", "TOOK", *shown, "NAME")
    screen.table(heads, rows, status_column=1)
    if wanted.metric is not None and not any(wanted.metric in run["metrics"] for run in found):
        print(f"None of these runs has a metric {wanted.metric!r}: the newest come first.", file=sys.stderr)


def _name(server: Api, run: dict[str, Any]) -> str:
    """The name of a run; its children are folded into how many there are, and those of a sweep into the best value."""
    from runyard.cli.output import summary

    if run["sweep"]:
        return summary.folded(server.sweep(run["id"]))
    children = {0: "", 1: "1 child"}.get(run["children"], f"{run['children']} children")
    return ", ".join(filter(None, (run["name"], children)))


def _value(metrics: dict[str, Any], name: str) -> str:
    if name not in metrics:
        return "-"
    return "nan" if metrics[name] is None else formatting.number(metrics[name])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
