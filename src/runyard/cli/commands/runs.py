"""`runyard ls`, `show`, `stop` and `preempt`: the list of runs, one of them in full, its cancellation, and its
preemption."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated

from runyard.cli.completion import experiment_names, statuses
from runyard.cli.options import JsonOption, OlderThanOption, RunArgument, time_ago
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Option, bad_parameter
from runyard.contracts import states

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runyard.cli.api import Api
    from runyard.contracts.documents import RunDocument

SWEEP_TYPE = "hyperdrive"


SORTS = ("newest", "oldest", "largest", "longest")
"""Orders by what every run has. Any other one is that of a table with columns (`runyard.cli.commands.views.table`)."""


def _known_status(given: str | None) -> str | None:
    if given is None:
        return None
    for status in states.ALL:
        if status.lower() == given.lower():
            return status
    raise bad_parameter(f"{given!r} is no status. The statuses are {', '.join(sorted(states.ALL))}.")


def ls(
    experiment: Annotated[
        str | None,
        Option("--experiment", "-e", help="Only runs of this experiment.", autocompletion=experiment_names),
    ] = None,
    status: Annotated[
        str | None,
        Option("--status", "-s", help="Only runs in this state.", callback=_known_status, autocompletion=statuses),
    ] = None,
    tag: Annotated[
        list[str] | None, Option("--tag", "-t", metavar="KEY[=VALUE]", help="Only runs with this tag; repeat.")
    ] = None,
    param: Annotated[
        list[str] | None,
        Option("--param", metavar="KEY[=VALUE]", help="Only runs with this parameter, as MLflow logs them; repeat."),
    ] = None,
    older_than: OlderThanOption = None,
    sort: Annotated[
        str,
        Option(
            "--sort",
            metavar="ORDER",
            help="Which come first: newest, oldest, largest, longest; or a metric, `params.lr`, `tag.owner`: "
            "`-acc` has the largest first, `acc` the smallest.",
        ),
    ] = "newest",
    filter: Annotated[
        str | None,
        Option(
            "--filter",
            metavar="SENTENCE",
            help="Only runs like this: `status:failed metrics.acc>0.9 tag.owner=me`.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        list[str] | None, Option("--metric", "-m", metavar="NAME", help="Show the last value of it; repeat.")
    ] = None,
    workspace: Annotated[
        str | None,
        Option(
            "--workspace",
            "-w",
            metavar="NAME",
            help="The runs of this workspace; with --filter or --metric by default that of the newest run.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, Option("--limit", "-n", min=1, help="How many runs at most.")] = 20,
    all_children: Annotated[bool, Option("--all-children", help="Child runs too.")] = False,
    services: Annotated[bool, Option("--services", help="Replicas of services too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List runs, newest first."""
    before = time_ago(older_than, "--older-than")
    from runyard.cli import api

    server = api.connect()
    if filter is not None or metric or workspace is not None or sort not in SORTS:
        from runyard.cli.commands.views import table

        if services:
            raise bad_parameter("A table with metrics has no services: leave out --filter and --metric.", "--services")
        terms = table.terms(experiment, status, tag or [], param or [], older_than)
        wanted = table.Wanted(" ".join([f"({filter})" if filter and terms else filter or "", *terms]).strip(), sort)
        table.show(server, workspace, wanted, metric or [], all_children, limit, as_json)
        return
    found = server.runs(
        experiment=experiment,
        status=status,
        tags=tag or [],
        parameters=param or [],
        children=all_children,
        services=services,
        before=before,
        order=sort,
        sizes=True,
        counts=True,
        page=min(limit, 500),
    )
    listed = list(itertools.islice(found, limit))
    if as_json:
        screen.document(listed)
        return
    if not listed:
        print("No runs." if not (experiment or status or tag or param or older_than) else "No runs like that.")
        return
    # The workspace matters only to those who have several.
    several = len({run["workspace"] for run in listed}) > 1
    rows = [
        (
            run["id"],
            run["status"],
            *([run["workspace"]] if several else []),
            run["experiment"],
            formatting.ago(formatting.moment(run["created_at"])),
            formatting.lasted(run["started_at"], run["ended_at"]),
            formatting.size(run.get("size", 0)),
            _name(server, run),
        )
        for run in listed
    ]
    place = ("WORKSPACE", "EXPERIMENT") if several else ("EXPERIMENT",)
    screen.table(("RUN", "STATUS", *place, "CREATED", "TOOK", "SIZE", "NAME"), rows, status_column=1)


def _name(server: Api, run: RunDocument) -> str:
    """The name of a run; its children are folded into how many there are, and those of a sweep into the best value."""
    if run["type"] != SWEEP_TYPE and not run.get("children"):
        return run["display_name"] or ""
    from runyard.cli.output import summary

    if run["type"] != SWEEP_TYPE:
        return ", ".join(filter(None, (run["display_name"], summary.children(run["children"]))))
    return summary.folded(server.sweep(run["id"]))


def show(run: RunArgument, as_json: JsonOption = False) -> None:
    """Show one run: what it was, what became of it, its last metrics and its files."""
    from runyard.cli import api
    from runyard.cli.output import summary

    server = api.connect()
    found = server.find(run)
    if "states" not in found:  # found by a part of its id: lists leave out the details
        found = server.run(found["id"], counts=True)
    last, stored = server.metrics(found["id"], buckets=1), server.files(found["id"])
    if as_json:
        screen.document({**found, "metrics": last, "files": stored})
        return
    folded: Iterable[str] = ()
    if found["type"] == SWEEP_TYPE:
        found.pop("children", None)  # the sweep tells more of them
        folded = summary.sweep_lines(server.sweep(found["id"]))
    for line in [
        *summary.describe(found),
        *folded,
        *summary.error(found),
        *summary.metrics(last),
        *summary.files(stored),
    ]:
        print(line)


def stop(
    run: RunArgument,
    wait: Annotated[bool, Option("--wait/--no-wait", help="Wait until the run has ended.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Ask a run to stop. Its processes get SIGTERM, and SIGKILL when they do not leave."""
    from runyard.cli import api

    server = api.connect()
    found = server.find(run)
    had_ended = found["status"] in states.TERMINAL
    if not had_ended:
        found = server.cancel(found["id"])
        if wait and found["status"] not in states.TERMINAL:
            with screen.spinner(f"Stopping {found['id']} ..."):
                found = server.wait(found["id"])
    if as_json:
        screen.document(found)
    elif had_ended:
        print(f"{found['id']} had ended already: {screen.status(found['status'])}")
    else:
        print(f"{found['id']} {screen.status(found['status'])}")


def preempt(run: RunArgument, as_json: JsonOption = False) -> None:
    """Take a run's nodes away, as a cluster may do: it starts again by itself, with its outputs given back."""
    from runyard.cli import api

    server = api.connect()
    found = server.preempt(server.find(run)["id"])
    if as_json:
        screen.document(found)
        return
    print(f"{found['id']} loses its nodes, and starts again.")
    print(f"Next: {formatting.program()} logs -f {found['id']}")
