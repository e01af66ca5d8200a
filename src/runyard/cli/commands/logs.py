"""`runyard logs`: what a run has written, once or as it comes, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from runyard.cli import errors
from runyard.cli.completion import file_names
from runyard.cli.options import JsonOption, RunArgument
from runyard.cli.output import rank_logs, screen
from runyard.cli.output.following import Attempts, Sink, Tail, interruptible, json_sink, show_state, write
from runyard.cli.parameters import Option, bad_parameter
from runyard.contracts.history import BUILD_LOG, INTERACTIVE_LOG, is_process_log

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.contracts.documents import RunDocument


def logs(
    run: RunArgument,
    follow: Annotated[bool, Option("--follow", "-f", help="Go on until the run ends.")] = False,
    file: Annotated[
        str | None,
        Option(
            "--file",
            metavar="NAME",
            help="Another log of the run; `runyard files` lists them.",
            autocompletion=file_names,
        ),
    ] = None,
    rank: Annotated[
        str | None,
        rank_logs.rank_option(
            "What one process of a distributed run printed, or all of them, line by line. Default: 0."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the log of a run. Ctrl-C while following leaves the run going."""
    if file is not None and rank is not None:
        raise bad_parameter("they exclude one another: give one of them.", param_hint="--file and --rank")
    from runyard.cli import api

    server = api.connect()
    found = server.run(server.find(run)["id"])
    names = rank_logs.of(found)
    if follow and file is not None:
        follow_run(server, found["id"], file, as_json)
    elif follow:
        follow_rank(server, found, rank, as_json)
    elif rank == rank_logs.ALL and len(names) > 1:
        rank_logs.show(server, found, names, as_json)
    else:
        _print(server, found, file or _log_of_rank(found, names, rank), as_json)


def follow_rank(server: Api, run: RunDocument, rank: str | None, as_json: bool) -> RunDocument:
    """Print what one rank writes, or all of them, and return the run when it has ended."""
    names = rank_logs.of(run)
    if rank == rank_logs.ALL and len(names) > 1:
        return rank_logs.follow(server, run, names, as_json)
    return follow_run(server, run["id"], _log_of_rank(run, names, rank), as_json)


def _log_of_rank(run: RunDocument, names: list[str], rank: str | None) -> str | None:
    if rank is None:
        return None
    return rank_logs.one(run, names, 0 if rank == rank_logs.ALL else int(rank))


def _print(server: Api, run: RunDocument, file: str | None, as_json: bool) -> None:
    name = file or _log_of(run) or _dropped_log(run)
    if name in run.get("dropped_logs", []):
        b"".join(server.read(run["id"], str(name)))  # refused, with the reason
    if name is None or (is_process_log(name) and name not in run.get("logs", [])):
        reason = f" ({run['reason']})" if run["reason"] else ""
        raise errors.CommandError(
            f"Run {run['id']} has no log yet: it is {run['status']}{reason}.",
            f"`runyard logs -f {run['id']}` waits for it.",
            errors.NOT_FOUND,
            "file_not_found",
        )
    if as_json:
        text = b"".join(server.read(run["id"], name)).decode("utf-8", "replace")
        screen.document({"run": run["id"], "file": name, "text": text})
        return
    for chunk in server.read(run["id"], name):
        write(chunk, 0)
    if file is None:
        rank_logs.note_other_ranks(run)


def follow_run(server: Api, run_id: str, file: str | None, as_json: bool) -> RunDocument:
    """Print the log of a run as it comes and return the run when it has ended."""
    with interruptible(run_id):
        run = server.run(run_id)
        if file is None and not as_json:
            rank_logs.note_other_ranks(run)
        return _follow(server, run, file, json_sink() if as_json else write, as_json)


def _follow(server: Api, run: RunDocument, file: str | None, sink: Sink, as_json: bool) -> RunDocument:
    run_id, attempts = run["id"], Attempts(server, run)
    shown = None if file is None else Tail(server, run_id, file, sink)
    seen = ""

    def turn_to(name: str | None) -> None:
        """Show another log from now on: the rest of the former comes first."""
        nonlocal shown
        if name is not None and (shown is None or name != shown.name):
            if shown is not None:
                shown.advance()
            shown = Tail(server, run_id, name, sink)

    def look_for_restart() -> None:
        """Another attempt writes its logs from their beginning."""
        nonlocal shown
        over = attempts.over()
        if over is not None and shown is not None:
            shown.begin_anew(over)
            shown = shown if file is not None else None

    for kind, value in server.events(run_id):
        if kind == "state" and (state := f"{value['status']}: {value['reason']}") != seen:
            seen = state
            show_state(value, as_json)
            look_for_restart()
        elif kind == "file":
            is_new = shown is None or (shown.name == BUILD_LOG and value["name"] != BUILD_LOG)
            if file is None and is_new:
                turn_to(_log_of(server.run(run_id)))
            if shown is not None and shown.name == value["name"] and value["size"] != shown.offset:
                shown.advance()
    run = server.run(run_id)
    turn_to(file or _log_of(run))
    if shown is not None and shown.name in run.get("logs", []):
        shown.advance()
    return run


def _dropped_log(run: RunDocument) -> str | None:
    """The log that a user means who names none, where the logs of an old run were dropped."""
    names = run.get("dropped_logs", [])
    return _log_of({**run, "logs": names}) or next(iter(names), None)


def _log_of(run: RunDocument) -> str | None:
    """The log that a user means who names none: what the script printed, or the block of an interactive run."""
    from runyard.sdk.run.watching import followed_log

    names = run.get("logs", [])
    return followed_log(names) or (INTERACTIVE_LOG if INTERACTIVE_LOG in names and not run.get("launch") else None)
