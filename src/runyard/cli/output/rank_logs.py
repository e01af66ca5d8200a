"""The logs of a run that is many processes: which belongs to which rank, and all of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runyard.cli import errors
from runyard.cli.output import screen
from runyard.cli.output.following import Attempts, Prefixed, Sink, Tail, interruptible, json_sink, note, show_state
from runyard.cli.output.summary import distribution
from runyard.cli.parameters import Option, bad_parameter
from runyard.contracts import history

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.contracts.documents import RunDocument

ALL = "all"


def parse_rank(value: str | None) -> str | None:
    """A rank, or all of them."""
    if value is None:
        return None
    if value.lower() == ALL:
        return ALL
    if not (value.isascii() and value.isdigit()):
        raise bad_parameter(f"{value!r} is no rank: use a number from 0 on, or '{ALL}'.")
    return value


def rank_option(help: str) -> Any:
    """The option `--rank`, as every command takes it; the help text is the command's own."""
    return Option("--rank", metavar=f"N|{ALL}", help=help, callback=parse_rank, show_default=False)


def of(run: RunDocument) -> list[str]:
    """The logs of a run's processes, by rank; whether they are there yet or not."""
    spread = distribution(run)
    if not spread.gang:
        return [history.user_log(history.SCRIPT_LOG)]
    return [history.user_log(history.rank_log(rank.rank)) for rank in spread.ranks()]


def one(run: RunDocument, names: list[str], rank: int) -> str:
    if rank >= len(names):
        has = (
            "one process, of rank 0"
            if len(names) == 1
            else f"{len(names)} processes, of the ranks 0 to {len(names) - 1}"
        )
        raise errors.CommandError(
            f"Run {run['id']} has no rank {rank}: it has {has}.",
            f"`runyard logs {run['id']} --rank {ALL}` shows all there is.",
            errors.NOT_FOUND,
            "rank_not_found",
        )
    return names[rank]


def note_other_ranks(run: RunDocument) -> None:
    """Mention that there are logs of other ranks too."""
    count = len(of(run))
    if count > 1:
        note(f"This is rank 0 of {count}. `runyard logs {run['id']} --rank {ALL}` shows every rank.")


def follow(server: Api, run: RunDocument, names: list[str], as_json: bool) -> RunDocument:
    """Print the logs of all ranks as they come, and return the run when it has ended."""
    with interruptible(run["id"]):
        return _follow(server, run, names, as_json)


def show(server: Api, run: RunDocument, names: list[str], as_json: bool) -> None:
    """Print the logs of all ranks, one after the other."""
    there = [name for name in names if name in run.get("logs", [])]
    if as_json:
        screen.document(
            {"run": run["id"], "ranks": [_document(server, run, names.index(name), name) for name in there]}
        )
    else:
        for name in there:
            sink = _prefixed(names, name)
            for chunk in server.read(run["id"], name):
                sink(chunk, 0)
            sink.end()


def _document(server: Api, run: RunDocument, rank: int, name: str) -> dict[str, object]:
    text = b"".join(server.read(run["id"], name)).decode("utf-8", "replace")
    return {"rank": rank, "file": name, "text": text}


def _prefixed(names: list[str], name: str) -> Prefixed:
    return Prefixed(names.index(name), len(str(len(names) - 1)))


def _follow(server: Api, run: RunDocument, names: list[str], as_json: bool) -> RunDocument:
    run_id, attempts = run["id"], Attempts(server, run)
    tails: dict[str, Tail] = {}
    lines: list[Prefixed] = []
    seen = ""

    def tail(name: str) -> Tail:
        if name not in tails:
            sink: Sink
            if as_json:
                sink = json_sink(rank=names.index(name))
            else:
                sink = _prefixed(names, name)
                lines.append(sink)
            tails[name] = Tail(server, run_id, name, sink)
        return tails[name]

    known = set(names)
    for kind, value in server.events(run_id):
        if kind == "state" and (state := f"{value['status']}: {value['reason']}") != seen:
            seen = state
            show_state(value, as_json)
            over = attempts.over()
            if over is not None:
                for each in tails.values():
                    each.begin_anew(over)
        elif kind == "file" and value["name"] in known and value["size"] != tail(value["name"]).offset:
            tail(value["name"]).advance()
    ended = server.run(run_id)
    for name in sorted(known.intersection(ended.get("logs", [])), key=names.index):
        tail(name).advance()
    for line in lines:
        line.end()
    return ended
