"""The options of a target on Slurm, read from the form in which they are stored."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIME_MARGIN = 600
"""Seconds that a job may last longer than its script: the environment is built before it, outputs are sent after it."""


@dataclass(frozen=True)
class Options:
    partition: str = ""  # the cluster's default without it
    account: str = ""
    qos: str = ""
    constraint: str = ""
    gres: str = ""  # in place of the GPUs that a vm_size stands for
    time: str = ""  # the time limit of runs that have none of their own
    exclusive: bool = False  # nodes are shared with nobody
    sbatch: tuple[str, ...] = ()  # further arguments
    commands: Path | None = None  # the only place where Slurm's programs are looked for; without it, PATH
    conf: Path | None = None  # SLURM_CONF
    python: str = "python3"  # on the nodes
    time_margin: int = TIME_MARGIN

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> Options:
        """Read the options of a target, which may have come through a form or a command line as text."""
        texts = ("partition", "account", "qos", "constraint", "gres", "time", "python")
        found: dict[str, Any] = {name: str(given[name]) for name in texts if given.get(name)}
        found.update({name: Path(given[name]) for name in ("commands", "conf") if given.get(name)})
        further = given.get("sbatch") or ()
        found["sbatch"] = tuple(shlex.split(further) if isinstance(further, str) else map(str, further))
        found["exclusive"] = str(given.get("exclusive") or "").lower() in ("1", "true", "yes", "on")
        if given.get("time_margin") is not None:
            found["time_margin"] = int(given["time_margin"])
        return Options(**found)
