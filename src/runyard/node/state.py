"""What a node runner has done so far, in `state.json`, so that another can take over if it dies."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from runyard.contracts.home import write_private
from runyard.node.log import log_line
from runyard.system.json_files import BadFile, made_of, read_object

PREPARING, RUNNING, ENDED = "preparing", "running", "ended"
CANCELLED, OVERDUE = "cancelled", "overdue"


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
            write_private(folder / "state.json", json.dumps(fields))
        except OSError as error:
            # A full disk must not end a script that may never write a byte itself; only a rescue would miss this.
            log_line(f"state.json could not be written: {error}")


def machine() -> str:
    """What identifies this machine, since its boot, among others that may see the same disk."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            # Containers on one machine do not know each other's processes.
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return os.uname().nodename


def load(folder: Path) -> State | None:
    """The state that a former runner left; None when it left none."""
    path = folder / "state.json"
    try:
        fields = read_object(path)
        left = made_of(State, fields, path)
        runner = made_of(Launched, fields["runner"], path)
        return replace(left, runner=runner, processes=[made_of(Launched, each, path) for each in left.processes])
    except FileNotFoundError:
        return None
    except (OSError, BadFile) as error:
        log_line(f"state.json cannot be read: {error}")
        return None
