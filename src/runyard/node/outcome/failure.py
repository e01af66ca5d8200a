"""The error of a run that failed: what went wrong, where in the user's code, and what to do about it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from runyard.contracts.plan import Launch
from runyard.node.outcome import exits, missing_packages, tracebacks
from runyard.node.outcome.exits import Exit

TAIL = 512 * 1024
LAST_LINES = 10
_HINTS = {
    "SIGSEGV": "A library crashed in native code. PYTHONFAULTHANDLER=1 in the environment variables shows where.",
    "SIGBUS": "Often shared memory (/dev/shm) that is full: use fewer data loading workers or smaller batches.",
    "SIGILL": "A package was built for another kind of processor: install one that suits this machine.",
}
_OUT_OF_MEMORY = (
    "The kernel ended a process for lack of memory during this run. Use smaller batches, fewer data loading workers, "
    "or a machine with more memory."
)


def describe(
    launch: Launch, exit: Exit, work: Path, log: Path, out_of_memory: bool = False, who: str = ""
) -> dict[str, Any]:
    """The `error` of a run whose script ended badly by itself; `who` names the process where there were many."""
    ending = exits.words(exit, out_of_memory)
    tail = read_tail(log)
    error: dict[str, Any] = {"code": "UserError"}
    hints = []
    name = who or launch.script or "The command"
    # A process that was killed raised nothing: a traceback in its log is an older one, which it had survived.
    trace = tracebacks.find_last(tail) if exits.killed_by(exit) in (None, 2, 6) else None
    if trace is not None:
        text = f"{trace.type}: {trace.message}" if trace.message else trace.type
        error["message"] = f"{name} failed with {ending}: {text}"
        frames = tracebacks.user_frames(trace.frames, str(work))
        error["exception"] = {
            "type": trace.type,
            "message": trace.message,
            "frames": [frame._asdict() for frame in frames],
        }
        hints += _import_hints(trace, launch, work)
    else:
        verb = "was" if exit.signal is not None else "failed with"
        last = "\n".join(tail.splitlines()[-LAST_LINES:]).strip()
        error["message"] = f"{name} {verb} {ending}." + (f" The last lines of its log:\n{last}" if last else "")
    error["exit"] = exits.as_fields(exit, ending)
    killer = exits.killed_by(exit)
    if out_of_memory:
        hints.append(_OUT_OF_MEMORY)
    elif killer is not None:
        hints.append(_HINTS.get(exits.signal_name(killer), ""))
    if exit.code == 127 and launch.command is not None:
        hints.append("Exit code 127 mostly means that a program in the command was not found: check its name and PATH.")
    help = " ".join(hint for hint in hints if hint)
    if help:
        error["help"] = help
    return error


def read_tail(log: Path) -> str:
    """The end of a log, as text; empty when there is none."""
    try:
        with open(log, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _import_hints(trace: tracebacks.Trace, launch: Launch, work: Path) -> list[str]:
    if trace.type != "ModuleNotFoundError":
        return []
    module = missing_packages.missing_module(trace.message)
    if module is None:
        return []
    top = module.partition(".")[0]
    if top in ("azureml", "runyard"):
        return [f"Runyard does not offer {module}: leave out what needs it."]
    if (work / top).exists() or (work / f"{top}.py").exists():
        return [f"{top} is in the run's folder: check that {module} is in it, and that Python looks there."]
    package = missing_packages.package_for(module)
    return [
        f"Install the package {package!r} for the Python that ran the script: "
        f"{launch.interpreter} -m pip install {package}. Or have an environment built for the run: name the package in "
        "a requirements file and submit with `--pip requirements.txt`, or in Python "
        f'env.python.conda_dependencies.add_pip_package("{package}"). '
        f"If {top} is a module of your own, put it into source_directory and check .amlignore."
    ]
