"""What a node runner has done so far, in `state.json`, so that another can take over if it dies.

Each state is a line at the end of the file, and the last one counts that is whole: to put a new file in the place of
the old one costs a file system several times as much, and most runs are short.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from runyard.contracts.home import write_private
from runyard.node.log import log_line
from runyard.system.files import content
from runyard.system.json_files import BadFile, as_object, made_of

PREPARING, RUNNING, ENDED = "preparing", "running", "ended"
CANCELLED, OVERDUE = "cancelled", "overdue"

LARGE = 1 << 16  # bytes of states after which one takes the place of all: a gang has many processes to tell of


@dataclass(frozen=True)
class Launched:
    """A process that was started, with its start time: a process id alone may belong to somebody else by now."""

    pid: int
    started: str | None


@dataclass(frozen=True)
class State:
    phase: str
    runner: Launched
    cookie: str  # every process of the run has it in its environment
    processes: list[Launched] = field(default_factory=list)
    stop: str | None = None  # why the processes were ended: CANCELLED or OVERDUE
    ended: dict[str, Any] | None = None  # the fact of how the run ended, once that is known
    machine: str = ""  # where the processes are: elsewhere their ids mean nothing
    shares_work: bool = False  # the working folder is that of node 0, who delivers what is written there

    def save(self, folder: Path) -> None:
        try:
            fields = {**vars(self), "runner": vars(self.runner), "processes": [vars(each) for each in self.processes]}
            _append(folder / "state.json", json.dumps(fields))
        except OSError as error:
            # A full disk must not end a script that may never write a byte itself; only a rescue would miss this.
            log_line(f"state.json could not be written: {error}")


def _append(path: Path, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size <= LARGE:
            # With an end before it: on a full disk the last line may be half a line.
            os.write(descriptor, f"\n{line}\n".encode() if size else f"{line}\n".encode())
    finally:
        os.close(descriptor)
    if size > LARGE:
        write_private(path, f"{line}\n")


@lru_cache(maxsize=1)
def machine() -> str:
    """What identifies this machine, since its boot, among others that may see the same disk."""
    try:
        boot = content("/proc/sys/kernel/random/boot_id").decode("ascii").strip()
        # Containers on one machine do not know each other's processes.
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return os.uname().nodename


def _latest(text: bytes, path: Path) -> dict[str, Any]:
    """The last state that is whole. BadFile when there is none."""
    fault = BadFile(f"{path} is empty.")
    for line in reversed(text.split(b"\n")):
        if line.strip():
            try:
                return as_object(line, path)
            except BadFile as error:
                fault = error
    raise fault


def load(folder: Path) -> State | None:
    """The state that a former runner left; None when it left none."""
    path = folder / "state.json"
    try:
        fields = _latest(content(str(path)), path)
        left = made_of(State, fields, path)
        runner = made_of(Launched, fields["runner"], path)
        return replace(left, runner=runner, processes=[made_of(Launched, each, path) for each in left.processes])
    except FileNotFoundError:
        return None
    except (OSError, BadFile) as error:
        log_line(f"state.json cannot be read: {error}")
        return None
