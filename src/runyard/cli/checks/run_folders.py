"""Checks of the folders that node runners work in: what in them is still to be delivered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from runyard.cli.api import Api
from runyard.cli.checks.check import WARN, Check
from runyard.cli.output import formatting
from runyard.client.http import ClientProblem
from runyard.contracts import states
from runyard.contracts.plan import run_of_folder

LOOKED_UP = 200
NAMED = 5


def run_folders(home: Path, server: Api | None) -> Iterator[Check]:
    """Folders of runs that have ended, or that the server does not know. Those of active runs are in order."""
    from runyard.engines.runners import holder

    runs = home / "runs"
    left: dict[str, list[Path]] = {}
    for folder in sorted(path for path in runs.iterdir() if path.is_dir()) if runs.is_dir() else []:
        if not folder.name.startswith("."):  # being removed
            left.setdefault(run_of_folder(folder.name), []).append(folder)
    if not left:
        return
    if server is None:
        message = f"{_named(left)} in {runs} may wait to be delivered"
        yield Check("run folders", WARN, message, "That is done while a server runs: `runyard up`.")
        return
    ended: dict[str, list[Path]] = {}
    unknown: dict[str, list[Path]] = {}
    for run_id, folders in list(left.items())[:LOOKED_UP]:
        try:
            over = server.run(run_id)["status"] in states.TERMINAL
            if over and not any(holder(folder / "runner.lock") for folder in folders):  # one is at it
                ended[run_id] = folders
        except ClientProblem as problem:
            if problem.code != "run_not_found":
                return
            unknown[run_id] = folders
    if ended:
        yield Check(
            "run folders",
            WARN,
            f"{_named(ended)}: it waits in {runs} to be delivered",
            "Their node runners were killed. The server sends others, after growing pauses and at each of its starts; "
            "its log says why they fail. `runyard rm RUN` gives a run up with all that it has left.",
        )
    if unknown:
        yield Check(
            "unknown run folders",
            WARN,
            f"{_named(unknown)} in {runs}, but the server has no such runs",
            "Should they belong to another database, start the server with that one, and they are delivered. Else they "
            "can be deleted.",
        )


def _named(left: dict[str, list[Path]]) -> str:
    """The size of the folders, how many runs they belong to, and which."""
    size = sum(_size(folder) for folders in left.values() for folder in folders)
    more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
    return f"{formatting.size(size)} of {formatting.count(len(left), 'run')} ({', '.join(list(left)[:NAMED])}{more})"


def _size(folder: Path) -> int:
    """The size of a folder, which a runner may remove meanwhile."""
    size = 0
    for path in folder.rglob("*"):
        try:
            size += 0 if path.is_dir() else path.lstat().st_size
        except FileNotFoundError:
            continue
    return size
