"""The delivery of an interactive run: a process that delivers what the run's owner writes, and outlives the owner.

    python -m runyard.node.delivery.interactive_delivery <telemetry folder>

The folder's `ship.json`, which only the user can read, holds the order:

    run_id, token, server_url, server_file     the run, and how to reach the server
    owner_pid, owner_started                    the process that writes; when it was started (or null)
    lead                                        whether that process leads the run, so that its end is the run's
    files                                       optional: {name in the history: path} of files to follow
    folders                                     optional: {"logs": path, "outputs": path}
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from runyard.client.http import Locator
from runyard.node.delivery.follow_loop import FollowLoop
from runyard.node.delivery.growing_files import GrowingFile, LogFolder
from runyard.node.delivery.journals import Journals
from runyard.node.delivery.outputs import Outputs
from runyard.node.delivery.removal import remove
from runyard.node.delivery.retrying_client import RetryingClient, ServerAway
from runyard.node.facts import Fact, ended
from runyard.node.log import log_line
from runyard.node.problem import Unwanted
from runyard.system import processes
from runyard.system.json_files import BadFile, made_of, read_object

LOOK_FOR_OWNER_EVERY = 0.5
LEFT_FOR_LATER = 75  # EX_TEMPFAIL: everything is still on the disk


@dataclass(frozen=True)
class Order:
    """The content of `ship.json`."""

    run_id: str
    token: str
    server_url: str
    owner_pid: int
    server_file: str | None = None
    owner_started: str | None = None
    lead: bool = False
    files: dict[str, str] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m runyard.node.delivery.interactive_delivery <telemetry folder>", file=sys.stderr)
        return 2
    folder = Path(arguments[0]).absolute()
    # A Ctrl-C at the owner's terminal, or its closing, is meant for the owner.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        with open(folder / "ship.lock", "a+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            order = _order(folder / "ship.json")
            lock.seek(0)
            resume = bool(lock.read())  # another process delivered some of it, and died
            print(os.getpid(), file=lock, flush=True)
            return deliver(folder, order, resume)
    except BlockingIOError:
        return 0  # another process delivers this folder
    except FileNotFoundError as error:
        if folder.exists():
            print(f"{folder} is not a telemetry folder: {error}", file=sys.stderr)
            return 2
        return 0  # another process has delivered it all
    except BadFile as error:
        print(f"what lies in {folder} cannot be delivered: {error}", file=sys.stderr)
        return 2


def deliver(folder: Path, order: Order, resume: bool = False) -> int:
    """Follow until the run is ended or its owner is gone; deliver everything; remove the folder."""
    locator = Locator(order.server_url, order.token, Path(order.server_file) if order.server_file else None)
    client = RetryingClient(order.run_id, locator, folder)
    lead = order.lead
    loop = _loop(client, folder, order, resume)
    owner = _Owner(order.owner_pid, order.owner_started)

    def over() -> bool:
        # A handle from outside lives as long as its owner, but no longer than its folder.
        return loop.end is not None or owner.gone() or not (lead or folder.exists())

    try:
        loop.follow(over, ask_every=LOOK_FOR_OWNER_EVERY)
        client.nothing_more_to_come()
        loop.finish(lambda: {**_end(loop, owner.pid), "warnings": loop.warnings()} if lead else None)
    except Unwanted as why:
        log_line(f"nothing more to do: {why}")
    except ServerAway as why:
        log_line(f"left for later: {why}")
        return LEFT_FOR_LATER
    remove(folder)
    return 0


def _order(path: Path) -> Order:
    return made_of(Order, read_object(path), path)


class _Owner:
    """The process that writes; it is looked for now and then, because that may take a process of its own."""

    def __init__(self, pid: int, started: str | None) -> None:
        self.pid = pid
        self._started = started
        self._next_look = 0.0
        self._gone = False

    def gone(self) -> bool:
        if time.monotonic() >= self._next_look:
            self._gone = not processes.alive(self.pid, self._started)
            self._next_look = time.monotonic() + LOOK_FOR_OWNER_EVERY
        return self._gone


def _loop(client: RetryingClient, folder: Path, order: Order, resume: bool) -> FollowLoop:
    sources: list[GrowingFile | LogFolder] = []
    outputs = []
    for name, path in order.files.items():
        sources.append(GrowingFile(Path(path), name, resume))
    for name, path in order.folders.items():
        if name == "outputs":
            outputs.append(Outputs(client, Path(path), name))
        else:
            sources.append(LogFolder(Path(path), name, resume))
    return FollowLoop(client, Journals(client, folder), sources, outputs, heartbeats=order.lead)


def _end(loop: FollowLoop, owner: int) -> Fact:
    if loop.end is not None:
        return ended(loop.end.outcome, loop.end.error)
    message = f"The process that led this run (pid {owner}) ended without completing it."
    help = "End an interactive run with run.complete() or run.fail(), or use it in a `with` block."
    return ended("failed", {"code": "OwnerLost", "message": message, "help": help})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
