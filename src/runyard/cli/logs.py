"""`runyard logs`: what a run has written, once or as it comes, byte for byte."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from runyard.cli import errors, screen
from runyard.cli.options import JsonOption, RunArgument
from runyard.contracts import states

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.sdk.documents import RunDocument, StateDocument

INTERACTIVE_LOG = "logs/user_log.txt"

Sink = Callable[[bytes, int], None]
"""Takes the next bytes of a log, and the offset at which they begin."""


def logs(
    run: RunArgument,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run ends.")] = False,
    file: Annotated[
        str | None, typer.Option("--file", metavar="NAME", help="Another log of the run; `runyard files` lists them.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the log of a run. Ctrl-C while following leaves the run going."""
    from runyard.cli import api

    server = api.connect()
    run_id = server.find(run)["id"]
    if follow:
        follow_run(server, run_id, file, as_json)
    else:
        _print(server, run_id, file, as_json)


def _print(server: Api, run_id: str, file: str | None, as_json: bool) -> None:
    run = server.run(run_id)
    name = file or _log_of(run)
    if name is None:
        reason = f" ({run['reason']})" if run["reason"] else ""
        raise errors.CommandError(
            f"Run {run_id} has no log yet: it is {run['status']}{reason}.",
            f"`runyard logs -f {run_id}` waits for it.",
            errors.NOT_FOUND,
            "file_not_found",
        )
    if as_json:
        text = b"".join(server.read(run_id, name)).decode("utf-8", "replace")
        screen.document({"run": run_id, "file": name, "text": text})
        return
    for chunk in server.read(run_id, name):
        _write(chunk, 0)


def follow_run(server: Api, run_id: str, file: str | None, as_json: bool) -> RunDocument:
    """Print the log of a run as it comes and return the run when it has ended."""
    try:
        return _follow(server, run_id, file, _json_sink() if as_json else _write, as_json)
    except KeyboardInterrupt:
        print(
            f"\nThe run goes on. `runyard logs -f {run_id}` follows it again; `runyard stop {run_id}` ends it.",
            file=sys.stderr,
        )
        raise


def _follow(server: Api, run_id: str, file: str | None, sink: Sink, as_json: bool) -> RunDocument:
    from runyard.sdk.run_watching import BUILD_LOG

    shown, offset, seen = file, 0, ""

    def turn_to(name: str | None) -> None:
        """Show another log from now on: the rest of the former comes first."""
        nonlocal shown, offset
        if name != shown:
            if shown is not None:
                _advance(server, run_id, shown, offset, sink)
            shown, offset = name, 0

    for kind, value in server.events(run_id):
        if kind == "state" and (state := f"{value['status']}: {value['reason']}") != seen:
            seen = state
            _tell(value, as_json)
        elif kind == "file":
            if file is None and shown in (None, BUILD_LOG) and value["name"] != shown:
                turn_to(_log_of(server.run(run_id)))
            if shown is not None and shown == value["name"] and value["size"] != offset:
                offset = _advance(server, run_id, shown, offset, sink)
    run = server.run(run_id)
    turn_to(file or _log_of(run))
    if shown is not None and shown in run.get("logs", []):
        _advance(server, run_id, shown, offset, sink)
    return run


def _tell(change: StateDocument, as_json: bool) -> None:
    """A change of state: for a program always, for a person while there is nothing else to see."""
    if as_json:
        screen.event({"event": "state", **change})
    elif change["status"] not in states.TERMINAL and change["status"] != states.RUNNING and sys.stderr.isatty():
        print(change["status"] + (f": {change['reason']}" if change["reason"] else ""), file=sys.stderr)


def _log_of(run: RunDocument) -> str | None:
    """The log that a user means who names none: what the script printed, or the block of an interactive run."""
    from runyard.sdk.run_watching import followed_log

    names = run.get("logs", [])
    return followed_log(names) or (INTERACTIVE_LOG if INTERACTIVE_LOG in names and not run.get("launch") else None)


def _advance(server: Api, run_id: str, name: str, offset: int, sink: Sink) -> int:
    """Hand over what the log has gained, and return where it ends now."""
    from runyard.sdk.client import ClientProblem

    try:
        for chunk in server.read(run_id, name, offset):
            sink(chunk, offset)
            offset += len(chunk)
    except ConnectionError:
        return offset  # the next event, or the end, reads on from here
    except ClientProblem as problem:
        if problem.code != "bad_range":
            raise
        return _advance(server, run_id, name, 0, sink)  # the file was emptied at its source and is written anew
    return offset


def _write(chunk: bytes, offset: int) -> None:
    sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def _json_sink() -> Sink:
    """One JSON line per piece. Bytes of a character that is cut in two wait for the rest of it."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def sink(chunk: bytes, offset: int) -> None:
        text = decoder.decode(chunk)
        if text:
            screen.event({"event": "log", "offset": offset, "text": text})

    return sink
