"""A warning for runs that log to MLflow where no tracking address is named: MLflow then writes into the working folder,
which is removed when the run has ended.

mlflow is never imported for this. The script is read when it has been started, so that the warning is there
while the run goes on; what is in the folder at the end also shows a library that logs to MLflow by itself.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Dict, FrozenSet, List, Tuple

from runyard.contracts.plan import Launch
from runyard.node.facts import Fact

Warnings = List[Dict[str, str]]
Left = FrozenSet[Tuple[str, int]]

FOLDER, DATABASE = "mlruns", "mlflow.db"  # MLflow's defaults, up to 3.6 and from 3.7 on
READ = 1 << 20
SCRIPTS = 8
ENTRIES = 1000

# Compiled when they are used, after the script has been started.
_IMPORT = r"from\s+mlflow\b|import\s.*(?<![\w.])mlflow\b"
_NAMES_ADDRESS = r"(?i)tracking_uri"  # set_tracking_uri, MLFLOW_TRACKING_URI
_AROUND = "'\";|&()"  # what a shell's command may have around an argument

_WHY = (
    "What is logged to MLflow goes to files in the run's working folder, which is removed when the run has ended. "
    "Log with run.log() of azureml.core, which is kept with the run; or name a place that stays, with "
    "mlflow.set_tracking_uri() or the environment variable MLFLOW_TRACKING_URI: a tracking server, or "
    "sqlite:///outputs/mlflow.db, which is kept with the run's outputs."
)


class MlflowWatch:
    """Made just before the processes of a run are started, in whose working folder it looks."""

    def __init__(self, launch: Launch, work: Path) -> None:
        self._launch, self._work = launch, work
        self._before = left_in(work)
        self._warnings: Warnings = []

    def started(self, fact: Fact) -> Fact:
        """The fact that the run was started, with a warning where its script imports mlflow and nobody has
        set where MLflow logs to."""
        self._warnings = _of_script(self._launch, self._work)
        return self._with_warning(fact)

    def ended(self, fact: Fact) -> Fact:
        """The fact that the run has ended, with a warning where MLflow has written into the folder meanwhile."""
        if not self._warnings and not left_in(self._work) <= self._before:
            self._warnings = _warning("The run has logged to MLflow, and not to a tracking server.")
        return self._with_warning(fact)

    def _with_warning(self, fact: Fact) -> Fact:
        return {**fact, "warnings": [*fact.get("warnings", []), *self._warnings]} if self._warnings else fact


def left_in(work: Path) -> Left:
    """What MLflow has written into the folder so far, by name and time: a snapshot may hold some of it."""
    found = []
    for name in (DATABASE, FOLDER):
        try:
            found.append((name, os.stat(work / name).st_mtime_ns))
            if name == FOLDER:
                with os.scandir(work / name) as entries:
                    found += [(entry.path, entry.stat().st_mtime_ns) for entry, _ in zip(entries, range(ENTRIES))]
        except OSError:
            continue
    return frozenset(found)


def _of_script(launch: Launch, work: Path) -> Warnings:
    if any(known.get("MLFLOW_TRACKING_URI") for known in (os.environ, launch.shell, launch.environment_variables)):
        return []
    for name in _scripts(launch):
        text = _text(work, name)
        if re.search(_NAMES_ADDRESS, text):
            return []
        if any(re.match(_IMPORT, line.lstrip()) for line in text.splitlines() if "mlflow" in line):
            return _warning(f"{name} imports mlflow, and no tracking address is named.")
    return []


def _warning(what: str) -> Warnings:
    return [{"source": "mlflow", "message": f"{what} {_WHY}"}]


def _scripts(launch: Launch) -> list[str]:
    """The Python files that the run starts, as far as its command names them."""
    if launch.command is not None:
        parts = [part.strip(_AROUND) for part in launch.command[:READ].split() if ".py" in part]
        return [part for part in parts if part.endswith(".py")][:SCRIPTS]
    return [launch.script] if launch.script and launch.script.endswith(".py") else []


def _text(work: Path, name: str) -> str:
    try:
        with open(work / name, "rb") as file:
            return file.read(READ).decode("utf-8", "replace")
    except OSError:
        return ""
