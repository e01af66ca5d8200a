"""`runyard retention`: how long logs and whole series of runs stay, and dropping what is older."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from runyard.cli.commands.config import here
from runyard.cli.confirm import agreed
from runyard.cli.options import JsonOption
from runyard.cli.output import formatting, screen
from runyard.cli.suggestions import Suggesting

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.contracts.documents import RetentionDocument, Usage

WHAT = {
    "logs": "logs: their names stay",
    "series": "series of more than 1,000 points: their count, extremes and curve stay",
}

LogsOption = Annotated[
    str | None,
    typer.Option("--logs", metavar="AGE", help="For logs: 90d, 12h, 8w, or none to keep them.", show_default=False),
]
SeriesOption = Annotated[
    str | None,
    typer.Option(
        "--series",
        metavar="AGE",
        help="For the single points of metrics: 90d, 12h, 8w, or none to keep them.",
        show_default=False,
    ),
]

app = typer.Typer(name="retention", cls=Suggesting)


@app.callback(invoke_without_command=True)
def retention(context: typer.Context, as_json: JsonOption = False) -> None:
    """How long logs and whole series of ended runs stay. Runs with the tag `keep` are left as they are.

    Alone, it shows what is set and what would be dropped now.
    """
    if context.invoked_subcommand is None:
        server, workspace = here()
        _show(server.retention(workspace), workspace, as_json)


@app.command(name="set")
def set_ages(logs: LogsOption = None, series: SeriesOption = None, as_json: JsonOption = False) -> None:
    """Set how long they stay: runyard retention set --logs 90d --series 30d"""
    given = {"logs": logs, "series": series}
    if logs is None and series is None:
        raise typer.BadParameter("give at least one of them.", param_hint="--logs and --series")
    server, workspace = here()
    server.retention(workspace, logs, series)  # refused before anything is changed
    for kind, age in given.items():
        if age is not None:
            server.put_setting(workspace, f"retention.{kind}", age)
    _show(server.retention(workspace), workspace, as_json)
    if not as_json:
        print("The server drops what is older once an hour; `runyard retention apply` does so now.")


@app.command()
def apply(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be dropped.")] = False,
    logs: LogsOption = None,
    series: SeriesOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Drop what is older than that now. With --dry-run, other ages can be tried."""
    if (logs is not None or series is not None) and not dry_run:
        raise typer.BadParameter(
            "they only go with --dry-run; `runyard retention set` sets them.", param_hint="--logs and --series"
        )
    server, workspace = here()
    due = server.retention(workspace, logs, series)
    if dry_run:
        _show(due, workspace, as_json)
        return
    if not any(amount["runs"] for amount in due["due"].values()):
        _report({kind: {"runs": 0, "bytes": 0} for kind in WHAT}, as_json)
        return
    amounts = " and ".join(f"the {kind} of {_amount(amount)}" for kind, amount in due["due"].items() if amount["runs"])
    agreed(f"Drop {amounts} of the workspace {workspace!r} for good?", yes, "Nothing was dropped.")
    _report(_apply(server, workspace), as_json)


def _apply(server: Api, workspace: str) -> dict[str, Usage]:
    freed: dict[str, Usage] = {kind: {"runs": 0, "bytes": 0} for kind in WHAT}
    more = True
    while more:
        with screen.spinner(f"Dropping; {formatting.size(sum(each['bytes'] for each in freed.values()))} so far ..."):
            step = server.apply_retention(workspace)
        for kind, amount in step["freed"].items():
            freed[kind]["runs"] += amount["runs"]
            freed[kind]["bytes"] += amount["bytes"]
        more = step["more"]
    return freed


def _show(found: RetentionDocument, workspace: str, as_json: bool) -> None:
    if as_json:
        screen.document(found)
        return
    rows = [(WHAT[kind], age, _amount(found["due"][kind])) for kind, age in found["ages"].items()]
    screen.table(("WHAT", "STAYS FOR", "DUE NOW"), rows)
    print(f"Workspace {workspace!r}. Runs with the tag `keep`, and runs that go on, are left as they are.")


def _report(freed: dict[str, Usage], as_json: bool) -> None:
    if as_json:
        screen.document({"freed": freed})
        return
    dropped = [f"the {kind} of {formatting.count(amount['runs'], 'run')}" for kind, amount in freed.items()]
    total = sum(amount["bytes"] for amount in freed.values())
    print(f"Dropped {' and '.join(dropped)}. {formatting.size(total)} came free.")


def _amount(amount: Usage) -> str:
    return f"{formatting.count(amount['runs'], 'run')}, {formatting.size(amount['bytes'])}"
