"""Calls Slurm's commands, with a clean environment and a time limit, and distinguishes a refusal from a cluster that
does not answer. Their output is for others to read.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping

from runyard.engines.base import EngineAway, EngineError
from runyard.engines.runners import HIDDEN_FROM_RUNS
from runyard.engines.slurm import limits
from runyard.engines.slurm.options import Options

PATIENCE = 20.0
"""Seconds for a command: without an answer from slurmctld, Slurm's own would wait for minutes."""

_PREFIXES = ("SLURM", "SBATCH_", "SRUN_", "SQUEUE_", "SINFO_", "SCANCEL_", "SACCT_", "SPANK_", "PMI_", "PMIX_")
"""Variables by which a shell changes what the commands do, or that belong to the job that this server runs in."""

_AWAY = (
    "unable to contact slurm controller",
    "connection refused",
    "connection timed out",
    "socket timed out",
    "zero bytes were transmitted",
    "communication connection failure",
    "controller in standby",
    "temporarily unable",
    "munge encode failed",
    "munge decode failed",
    "protocol authentication error",
    "authentication credential",
)

_INSTALL = "Start the server on a login node of the cluster, or name their folder in the target's option `commands`."


class Refused(EngineError):
    """Slurm has answered, and will not do it. `message` is its own."""

    def __init__(self, program: str, message: str) -> None:
        super().__init__(f"Slurm refused {program}: {message}")
        self.message = message


class Full(EngineAway):
    """Slurm takes no more jobs of this user, account or QOS for now: there will be room again."""


class Commands:
    def __init__(self, options: Options) -> None:
        self._folder, self._conf = options.commands, options.conf

    def run(self, program: str, *arguments: str, text: str = "", extra: Mapping[str, str] | None = None) -> str:
        """What a command prints. Raises Refused, or EngineAway when the cluster does not answer."""
        command = [self._find(program), *arguments]
        try:
            done = subprocess.run(
                command,
                input=text,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                env={**self._environment(), **(extra or {})},
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise EngineAway(f"Slurm did not answer {program} within {PATIENCE:g} seconds: is slurmctld up?") from error
        except OSError as error:
            raise EngineError(f"{command[0]} cannot be run: {error.strerror or error}. {_INSTALL}") from error
        if done.returncode == 0:
            return done.stdout
        message = _message(program, done.stderr) or f"exit code {done.returncode}"
        if any(sign in message.lower() for sign in _AWAY):
            raise EngineAway(f"Slurm does not answer {program}: {message}")
        if limits.of_submitting(message):
            raise Full(f"Slurm takes no more jobs for now: {message}")
        if "configuration source" in message.lower():
            raise EngineError(
                f"Slurm's configuration was not found: {message} Name the file in the target's option `conf`, or set "
                f"SLURM_CONF for the server."
            )
        raise Refused(program, message)

    def _find(self, program: str) -> str:
        found = shutil.which(program, path=None if self._folder is None else str(self._folder))
        if found is None:
            where = f"in {self._folder}" if self._folder is not None else "on the server's PATH"
            raise EngineError(f"Slurm's command {program} was not found {where}. {_INSTALL}")
        return found

    def _environment(self) -> dict[str, str]:
        """The server's, for the commands and for the jobs that they submit. Nothing of another job is in it."""
        known = {
            name: value
            for name, value in os.environ.items()
            if name not in HIDDEN_FROM_RUNS and not name.startswith(_PREFIXES)
        }
        conf = str(self._conf) if self._conf is not None else os.environ.get("SLURM_CONF", "")
        if conf:
            known["SLURM_CONF"] = conf
        return known


def _message(program: str, output: str) -> str:
    """What a command complains of, in one line."""
    lines = []
    for line in output.splitlines():
        for prefix in (f"{program}: ", "error: ", "fatal: "):
            line = line.strip().removeprefix(prefix)
        if line and line not in lines:
            lines.append(line)
    return " ".join(line if line.endswith((".", "!", "?")) else f"{line}." for line in lines)
