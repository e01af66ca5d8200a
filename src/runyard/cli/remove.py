"""`runyard rm`: deletes runs, or a whole experiment, for good."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from runyard.cli import errors, screen, words
from runyard.cli.options import JsonOption, run_ids

if TYPE_CHECKING:
    from runyard.cli.api import Api, Freed


def rm(
    run: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Runs, named as everywhere else.", autocompletion=run_ids),
    ] = None,
    experiment: Annotated[
        str | None, typer.Option("--experiment", "-e", help="A whole experiment with all its runs.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete runs for good: their rows, metrics, logs and files. What other runs share stays."""
    from runyard.cli import api

    if bool(run) == bool(experiment):
        raise typer.BadParameter("name either runs, or one experiment with --experiment.", param_hint="RUN")
    server = api.connect()
    if experiment:
        found = server.experiment(experiment)
        _agreed(f"experiment {experiment!r} of workspace {found['workspace']!r} with all its runs", yes)
        freed = server.delete_experiment(found["id"])
    else:
        ids = list(dict.fromkeys(server.find(text)["id"] for text in run or []))
        _agreed(
            ids[0] if len(ids) == 1 else f"{len(ids)} runs ({', '.join(ids[:3])}{', ...' if len(ids) > 3 else ''})", yes
        )
        freed = _delete(server, ids)
    if as_json:
        screen.document(freed)
        return
    gone = words.count(freed["runs"], "run")
    if experiment:
        gone += f" and the experiment {experiment!r}"
    print(f"Deleted {gone}. {words.size(freed['bytes_freed'])} came free.")


def _delete(server: Api, ids: list[str]) -> Freed:
    """Delete one run after the other; a run that went together with its parent counts as deleted."""
    from runyard.sdk.client import ClientProblem

    total: Freed = {"runs": 0, "experiments": 0, "objects": 0, "bytes_freed": 0}
    for run_id in ids:
        try:
            freed = server.delete_run(run_id)
        except ClientProblem as problem:
            if problem.code == "run_not_found":
                continue
            error = errors.explain(problem)
            if total["runs"]:
                error.title += f" The {words.count(total['runs'], 'run')} named before it went."
            raise error from problem
        total["runs"] += freed["runs"]
        total["experiments"] += freed["experiments"]
        total["objects"] += freed["objects"]
        total["bytes_freed"] += freed["bytes_freed"]
    return total


def _agreed(what: str, yes: bool) -> None:
    """Ask a person; refuse when nobody is there to answer."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise errors.CommandError(
            f"Not deleting {what}: nobody is here to confirm it.",
            "Deleting is for good. Add --yes to delete without a question.",
            errors.USAGE,
            "not_confirmed",
        )
    if not typer.confirm(f"Delete {what} for good?", err=True):
        raise errors.CommandError("Nothing was deleted.", exit_code=errors.FAILED, code="not_confirmed")
