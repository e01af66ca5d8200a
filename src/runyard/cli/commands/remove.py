"""`runyard rm`: deletes runs, or a whole experiment, for good."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from runyard.cli import errors
from runyard.cli.completion import experiment_names, run_ids
from runyard.cli.confirm import agreed
from runyard.cli.options import JsonOption, OlderThanOption, time_ago
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Argument, Option, bad_parameter
from runyard.contracts import states

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.contracts.documents import Freed, Usage


def rm(
    run: Annotated[
        list[str] | None,
        Argument(metavar="RUN", help="Runs, named as everywhere else.", autocompletion=run_ids),
    ] = None,
    experiment: Annotated[
        str | None,
        Option(
            "--experiment",
            "-e",
            help="A whole experiment with all its runs; with --older-than, only those.",
            autocompletion=experiment_names,
        ),
    ] = None,
    older_than: OlderThanOption = None,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete runs for good: their rows, metrics, logs and files. What other runs share stays."""
    if bool(run) and (experiment is not None or older_than is not None):
        raise bad_parameter("name either runs, or which ones with --experiment and --older-than.")
    before = time_ago(older_than, "--older-than")
    if not run and experiment is None and before is None:
        raise bad_parameter("name runs, or say which with --experiment or --older-than.", param_hint="RUN")
    from runyard.cli import api

    server = api.connect()
    if before is not None:
        freed = _rm_old(server, experiment, before, str(older_than), yes)
    elif experiment is not None:
        freed = _rm_experiment(server, experiment, yes)
    else:
        freed = _rm_runs(server, list(dict.fromkeys(server.find(text)["id"] for text in run or [])), yes)
    if as_json:
        screen.document(freed)
        return
    if not freed["runs"] and not freed["experiments"]:
        print("There was nothing to delete.")
        return
    deleted = formatting.count(freed["runs"], "run")
    if freed["experiments"]:
        deleted += f" and the experiment {experiment!r}"
    print(f"Deleted {deleted}. {formatting.size(freed['bytes_freed'])} came free.")


def _rm_experiment(server: Api, name: str, yes: bool) -> Freed:
    found = server.experiment(name)
    if not yes:
        taken = _amount(server.usage(experiment_id=found["id"]))
        _agreed(f"experiment {name!r} of workspace {found['workspace']!r} with {taken}", yes)
    return server.delete_experiment(found["id"])


def _rm_runs(server: Api, ids: list[str], yes: bool) -> Freed:
    if not yes:
        taken = server.usage(ids)
        named = ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")
        one = len(ids) == 1 and taken["runs"] == 1
        _agreed(f"{named} ({formatting.size(taken['bytes']) if one else _amount(taken)})", yes)
    return _delete(server, ids)


def _rm_old(server: Api, experiment: str | None, before: datetime, age: str, yes: bool) -> Freed:
    """Delete the runs that are older and have ended; their children go with them."""
    if experiment is not None:
        server.experiment(experiment)  # refused when there is none
    # Filtered again here: an older server ignores `before`, and returns all.
    ids = [
        run["id"]
        for run in server.runs(experiment=experiment, before=before)
        if run["status"] in states.TERMINAL and formatting.moment(run["created_at"]) < before
    ]
    if ids and not yes:
        of = f" of experiment {experiment!r}" if experiment is not None else ""
        _agreed(f"{_amount(server.usage(ids))}{of}, made more than {age} ago", yes)
    return _delete(server, ids)


def _amount(taken: Usage) -> str:
    return f"{formatting.count(taken['runs'], 'run')}, {formatting.size(taken['bytes'])}"


def _agreed(what: str, yes: bool) -> None:
    agreed(f"Delete {what} for good?", yes, "Nothing was deleted.")


def _delete(server: Api, ids: list[str]) -> Freed:
    """Delete one run after the other; one that was deleted together with its parent is passed over."""
    from runyard.client.http import ClientProblem

    total: Freed = {"runs": 0, "experiments": 0, "objects": 0, "bytes_freed": 0}
    for run_id in ids:
        try:
            freed = server.delete_run(run_id)
        except ClientProblem as problem:
            if problem.code == "run_not_found":
                continue
            error = errors.explain(problem)
            if total["runs"]:
                error.title += f" The {formatting.count(total['runs'], 'run')} named before it went."
            raise error from problem
        total["runs"] += freed["runs"]
        total["experiments"] += freed["experiments"]
        total["objects"] += freed["objects"]
        total["bytes_freed"] += freed["bytes_freed"]
    return total
