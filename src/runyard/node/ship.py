"""The shipper of an interactive run: a process that delivers what the run's owner writes, and outlives the owner.

    python -m runyard.node.ship <telemetry folder>

The folder's `ship.json`, which only the user can read, says what to do:

    run_id, token, server_url, server_file     the run, and the way to the server
    owner_pid, owner_started                    the process that writes; when it was started (or null)
    lead                                        whether that process leads the run, so that its end is the run's
    files                                       optional: {name in the history: path} of files to follow
    folders                                     optional: {"logs": path, "outputs": path}
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Mapping

from runyard.node.courier import Courier, ServerAway, Unwanted
from runyard.node.facts import Fact, ended
from runyard.node.follow import GrowingFile, LogFolder
from runyard.node.journals import Journals
from runyard.node.log import say
from runyard.node.removal import remove
from runyard.node.shipper import Shipper
from runyard.node.uploads import Outputs
from runyard.sdk import processes
from runyard.sdk.client import Locator

LOOK_FOR_OWNER_EVERY = 0.5
LEFT_FOR_LATER = 75  # EX_TEMPFAIL: everything is still on the disk


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m runyard.node.ship <telemetry folder>", file=sys.stderr)
        return 2
    folder = Path(arguments[0]).absolute()
    # A Ctrl-C at the owner's terminal, or its closing, is meant for the owner.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        with open(folder / "ship.lock", "a+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            order = json.loads((folder / "ship.json").read_text("utf-8"))
            lock.seek(0)
            resume = bool(lock.read())  # another shipper was here, and died
            print(os.getpid(), file=lock, flush=True)
            return ship(folder, order, resume)
    except BlockingIOError:
        return 0  # another process ships this folder
    except FileNotFoundError as error:
        if folder.exists():
            print(f"{folder} is not a telemetry folder: {error}", file=sys.stderr)
            return 2
        return 0  # another process has delivered it all


def ship(folder: Path, order: Mapping[str, Any], resume: bool = False) -> int:
    """Follow until the run is ended or its owner is gone; deliver everything; remove the folder."""
    file = order.get("server_file")
    locator = Locator(str(order["server_url"]), str(order["token"]), Path(file) if file else None)
    courier = Courier(str(order["run_id"]), locator, folder)
    lead = bool(order.get("lead"))
    shipper = _shipper(courier, folder, order, resume)
    owner = _Owner(int(order["owner_pid"]), order.get("owner_started"))

    def over() -> bool:
        # A handle from outside lives as long as its owner, but no longer than its folder.
        return shipper.end is not None or owner.gone() or not (lead or folder.exists())

    try:
        shipper.follow(until=over)
        courier.nothing_more_to_come()
        shipper.finish()
        if lead:
            courier.fact({**_end(shipper, owner.pid), "warnings": shipper.warnings()})
    except Unwanted as why:
        say(f"nothing more to do: {why}")
    except ServerAway as why:
        say(f"left for later: {why}")
        return LEFT_FOR_LATER
    remove(folder)
    return 0


class _Owner:
    """The process that writes; it is looked for now and then, because that may take a process of its own."""

    def __init__(self, pid: int, started: object) -> None:
        self.pid = pid
        self._started = None if started is None else str(started)
        self._next_look = 0.0
        self._gone = False

    def gone(self) -> bool:
        if time.monotonic() >= self._next_look:
            self._gone = not processes.alive(self.pid, self._started)
            self._next_look = time.monotonic() + LOOK_FOR_OWNER_EVERY
        return self._gone


def _shipper(courier: Courier, folder: Path, order: Mapping[str, Any], resume: bool) -> Shipper:
    sources: list[GrowingFile | LogFolder] = []
    outputs = None
    for name, path in (order.get("files") or {}).items():
        sources.append(GrowingFile(courier, Path(path), name, resume))
    for name, path in (order.get("folders") or {}).items():
        if name == "outputs":
            outputs = Outputs(courier, Path(path), name)
        else:
            sources.append(LogFolder(courier, Path(path), name, resume))
    return Shipper(courier, Journals(courier, folder), sources, outputs, heartbeats=bool(order.get("lead")))


def _end(shipper: Shipper, owner: int) -> Fact:
    if shipper.end is not None:
        return ended(shipper.end.outcome, shipper.end.error)
    words = f"The process that led this run (pid {owner}) ended without completing it."
    help = "End an interactive run with run.complete() or run.fail(), or use it in a `with` block."
    return ended("failed", {"code": "OwnerLost", "message": words, "help": help})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
